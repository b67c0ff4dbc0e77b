import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openScenario } from '../../src/scenarios/open.ts';
import { patched } from '../../src/scenarios/outcome.ts';
import type { Judgement } from '../../src/server/judge.ts';

/** A fenced block of a page. Its info string is a language and what the block is: `yaml policy`, `text output`. */
export interface Block {
  readonly info: string;
  readonly text: string;
  /** Index of its first line in the page. */
  readonly start: number;
  readonly lines: number;
}

/** What stands under a heading that begins with "Example". */
export interface Example {
  readonly heading: string;
  readonly blocks: readonly Block[];
}

export interface Outcome {
  readonly judgement: Judgement;
  readonly after: unknown;
  /** What the page must say, by the block's info string. */
  readonly said: Readonly<Record<string, string>>;
}

/** What `kubectl` shows of an answer: each warning, then the denial without the webhook's name before it. */
function output({ warnings, message }: Judgement['answer']): string {
  return [...warnings.map((warning) => `Warning: ${warning}`), ...(message === undefined ? [] : [message])].join('\n');
}

const HEADING = /^(#+) (.+)$/;

export function blocksOf(page: string): readonly Block[] {
  return sectionsOf(page).flatMap((section) => section.blocks);
}

export function examplesOf(page: string): readonly Example[] {
  return sectionsOf(page).filter(({ heading }) => heading.startsWith('Example'));
}

function sectionsOf(page: string): readonly Example[] {
  const sections: { heading: string; blocks: Block[] }[] = [{ heading: '', blocks: [] }];
  let open: { info: string; start: number } | undefined;
  const lines = page.split('\n');
  for (const [index, line] of lines.entries()) {
    const fence = /^```(.*)$/.exec(line)?.[1];
    if (open && fence !== undefined) {
      const text = lines.slice(open.start, index).join('\n');
      sections.at(-1)?.blocks.push({ ...open, text, lines: index - open.start });
      open = undefined;
    } else if (fence !== undefined) open = { info: fence, start: index + 1 };
    else if (!open && HEADING.test(line)) sections.push({ heading: HEADING.exec(line)?.[2] ?? '', blocks: [] });
  }
  return sections;
}

/** Info strings of what an example is given. `validate` asks that webhook, `added` is the ephemeralcontainers subresource. */
const GIVEN: Readonly<Record<string, string>> = {
  'yaml policy': 'policy.yaml',
  'yaml namespace': 'namespace.yaml',
  'yaml nodes': 'nodes.yaml',
  'yaml limits': 'limits.yaml',
  'yaml deviceclasses': 'deviceclasses.yaml',
  'yaml runtimeclasses': 'runtimeclasses.yaml',
  'yaml old': 'old.yaml',
  'yaml input': 'input.yaml',
  'yaml input validate': 'input.yaml',
  'yaml input ephemeralcontainers': 'input.yaml',
};

/** Info strings of what an example shows. `yaml after` is the object with its patch; a part is enough, but lists are whole. */
const SHOWN = ['text output', 'json patch', 'json audit', 'yaml after'];

/** Judges an example as the API server would ask: a Pod by the mutating webhook, a workload by the validating one. */
export async function run({ heading, blocks }: Example): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'gpugate-docs-'));
  try {
    for (const { info, text } of blocks) {
      const file = GIVEN[info];
      if (file !== undefined) await writeFile(join(folder, file), text);
      else if (info !== '' && !SHOWN.includes(info)) throw new Error(`${heading}: no block of an example is "${info}"`);
    }
    const asked = blocks.find(({ info }) => info.startsWith('yaml input'));
    if (!asked) throw new Error(`${heading} has no block "yaml input"`);
    const subResource = asked.info.endsWith('ephemeralcontainers') ? 'ephemeralcontainers' : undefined;
    const { input, ask } = await openScenario(folder, subResource);
    const isPod = input.kind === 'Pod';
    const judgement = await ask(isPod && !asked.info.endsWith('validate') ? 'mutate' : 'validate', input);
    return {
      judgement,
      after: patched(input, judgement),
      said: {
        'text output': output(judgement.answer),
        'json patch': patchText(judgement.answer.patch ?? []),
        'json audit': JSON.stringify(judgement.answer.auditAnnotations),
      },
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** One operation a line. */
function patchText(patch: readonly object[]): string {
  return `[\n${patch.map((operation) => `  ${JSON.stringify(operation)}`).join(',\n')}\n]`;
}

/** The page with these texts in the place of its blocks. */
export function withBlocks(page: string, replaced: ReadonlyMap<Block, string>): string {
  const lines: (string | readonly string[])[] = page.split('\n');
  for (const [{ start, lines: count }, text] of replaced) {
    lines.fill([], start, start + count);
    if (count > 0) lines[start] = text.split('\n');
    else lines[start - 1] = [String(lines[start - 1]), ...text.split('\n')];
  }
  return lines.flat().join('\n');
}

/** The rows of every table whose header begins with `first`, each a list of trimmed cells. */
export function tableOf(page: string, first: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let inside = false;
  for (const line of page.split('\n')) {
    const cells = line.startsWith('|')
      ? line
          .replaceAll('\\|', '\u0000')
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replaceAll('\u0000', '|'))
      : undefined;
    if (!cells) inside = false;
    else if (inside && !cells.every((cell) => /^-+$/.test(cell))) rows.push(cells);
    else if (cells[0] === first) inside = true;
  }
  return rows;
}

/** The relative links of a page, without those of its code. */
export function linksOf(page: string): readonly string[] {
  const prose = page.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors that GitHub gives the headings of a page. */
export function anchorsOf(page: string): readonly string[] {
  return sectionsOf(page).map(({ heading }) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
