import { type Command, Option } from 'commander';
import { CODES, type Code } from '../admission/findings.ts';
import { table } from '../report/table.ts';
import { EXIT, failure } from './exit.ts';
import { RULE_PAGES } from './rule-pages.ts';

/** `gpugate rules`: every code, and the page of each. */
export function configure(command: Command): void {
  command
    .description('Lists the codes of findings and changes, each with what it says and how severe it is.')
    .enablePositionalOptions()
    .argument('[codes...]', 'the pages of these codes instead, as `explain` prints them')
    .addOption(new Option('-o, --output <format>', 'how to print them').choices(['table', 'json']).default('table'))
    .addHelpText(
      'after',
      `
Examples:
  gpugate rules                   every code
  gpugate rules explain GPU002    what a code means, why, an example, and how to fix it
  gpugate rules -o json`,
    )
    .action((asked: readonly string[], { output }: { output: 'table' | 'json' }) => {
      const pages = asked.map(pageOf);
      if (pages.length > 0 && output === 'table') {
        process.stdout.write(pages.join('\n'));
        return;
      }
      const codes = pages.length > 0 ? asked.map((code) => code.toUpperCase()) : Object.keys(CODES);
      const rules = codes.map((code) => ({ code, title: CODES[code as Code], severity: severityOf(code) }));
      const rows = rules.map(({ code, title, severity }) => [code, title, severity]);
      process.stdout.write(
        output === 'json' ? `${JSON.stringify(rules, null, 2)}\n` : table([['CODE', 'WHAT', 'SEVERITY'], ...rows]),
      );
    });
  command
    .command('explain')
    .summary('print the page of a code')
    .description('Prints the page of a code: what is found, why, an example, and how to fix it.')
    .argument('<codes...>', 'such as GPU002')
    .addHelpText('after', '\nExamples:\n  gpugate rules explain GPU002\n  gpugate rules explain GPU110 GPU111 | less')
    .action((codes: readonly string[]) => {
      process.stdout.write(codes.map(pageOf).join('\n'));
    });
}

function pageOf(text: string): string {
  const page = RULE_PAGES[text.toUpperCase()];
  if (page !== undefined) return page;
  throw failure(EXIT.usage, `no rule has the code ${text}; \`gpugate rules\` lists them`);
}

/** What the page says of it, without its code marks. */
function severityOf(code: string): string {
  return /^- Severity: (.+)$/m.exec(RULE_PAGES[code as Code] ?? '')?.[1]?.replaceAll('`', '') ?? '';
}
