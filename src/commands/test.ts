import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { createPatch } from 'diff';
import { COLOURS, type ColourMode, isColoured } from '../report/colour.ts';
import { TEST_FORMATS } from '../report/test-results.ts';
import type { Shared } from '../scenarios/open.ts';
import { type Result, runScenario, scenarioFolders } from '../scenarios/run.ts';
import { updated } from '../scenarios/write.ts';
import { EXIT, failure } from './exit.ts';
import { type Output, outputOption, writeOutput } from './output.ts';
import { orInput } from './sources.ts';
import { configureInit } from './test-init.ts';

type TestFormat = keyof typeof TEST_FORMATS;
const FORMATS = Object.keys(TEST_FORMATS) as readonly TestFormat[];

interface Options extends Shared {
  readonly run?: RegExp;
  readonly output?: readonly Output<TestFormat>[];
  readonly color: ColourMode;
  readonly update?: true;
}

/** `gpugate test`: runs the scenarios of folders, each a policy, an input, and what is expected of them. */
export function configure(command: Command): void {
  command
    .enablePositionalOptions()
    .description(
      'Runs the scenarios of these folders and of those below them. A scenario is a folder with input.yaml, expected.yaml, ' +
        'and what the webhook would know: policy.yaml, namespace.yaml, nodes.yaml. docs/testing-policies.md explains the files.',
    )
    .addArgument(new Argument('[folders...]', 'where to look for scenarios').default(['.'], 'the current folder'))
    .option('--run <regex>', 'only the scenarios whose path matches', regex)
    .addOption(outputOption(FORMATS, 'how to print the results'))
    .addOption(new Option('--color <when>', 'colour the table').choices([...COLOURS]).default('auto'))
    .option('--policies <path>', 'GpuPolicies, a file or a folder, for scenarios without policy.yaml')
    .option('--namespaces <file>', 'Namespaces, for scenarios without namespace.yaml')
    .option('--nodes <file>', 'Nodes, for scenarios without nodes.yaml')
    .option('--update', 'write what came out into expected.yaml, after showing the difference')
    .addHelpText(
      'after',
      `
Examples:
  gpugate test init pod.yaml                             make a first scenario, under scenarios/
  gpugate test                                           run every scenario below the current folder
  gpugate test scenarios --run 'mig|slice'               run some of them
  gpugate test scenarios -o table -o junit=report.xml    print, and write a report for CI
  gpugate test scenarios --policies policies             test these policies where a scenario has none itself
  gpugate test scenarios --update                        accept what has changed; git shows it too

Exit codes: 0 all passed, 1 one failed, 2 wrong use, 3 no scenario found or one can't be read.`,
    )
    .action(run);
  configureInit(command.command('init'));
}

async function run(paths: readonly string[], options: Options): Promise<void> {
  const { output = [{ format: 'table' }], color, update } = options;
  if (update && options.output) throw failure(EXIT.usage, '--update shows differences; leave -o out');
  if (paths.includes('')) throw failure(EXIT.usage, 'a path is empty; give a folder');
  const folders = await chosen(paths, options.run);
  let results = await Promise.all(folders.map((folder) => runScenario(folder, options)));
  if (update) {
    for (const result of results) await rewrite(result);
    results = await Promise.all(folders.map((folder) => runScenario(folder, options)));
  }
  for (const { format, file } of output) {
    const coloured = file === undefined ? isColoured(color, process.stdout) : color === 'always';
    const text = TEST_FORMATS[format](results, coloured);
    if (file === undefined) process.stdout.write(text);
    else await writeOutput(file, text);
  }
  const ended = (state: Result['state']) => results.some((result) => result.state === state);
  if (ended('failed')) process.exitCode = EXIT.denied;
  if (ended('unreadable')) process.exitCode = EXIT.input;
}

async function chosen(paths: readonly string[], regex: RegExp | undefined): Promise<readonly string[]> {
  const all = await orInput(scenarioFolders(paths));
  if (all.length === 0) {
    throw failure(EXIT.input, `no scenario in ${paths.join(', ')}: a scenario is a folder with an expected.yaml`);
  }
  const folders = all.filter((folder) => regex?.test(folder) ?? true);
  if (folders.length === 0) throw failure(EXIT.input, `none of ${all.length} scenarios matches --run ${regex?.source}`);
  return folders;
}

async function rewrite(result: Result): Promise<void> {
  if (result.state !== 'failed') return;
  const file = join(result.folder, 'expected.yaml');
  const before = await readFile(file, 'utf8');
  const after = updated(before, result.expected, result.outcome);
  if (after === before) return;
  process.stdout.write(createPatch(file, before, after, '', '', { context: 3 }));
  await writeOutput(file, after);
}

function regex(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
