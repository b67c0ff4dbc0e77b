import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CODES, type Code } from '../../src/admission/findings.ts';
import { anchorsOf, examplesOf, linksOf, run, tableOf, withBlocks } from './pages.ts';

const DOCS = new URL('../../docs/', import.meta.url).pathname;
const codes = Object.keys(CODES) as Code[];
const read = (page: string) => readFileSync(join(DOCS, page), 'utf8');
const pages = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .sort();
const withExamples = pages.filter((page) => examplesOf(read(page)).length > 0);

/** `- Severity: error` of a rule's page. */
function stated(page: string, what: 'Severity' | 'Applies'): string {
  return new RegExp(`^- ${what}: (.+)$`, 'm').exec(page)?.[1] ?? `no line "- ${what}: ..."`;
}

describe('examples give what their pages show', () => {
  it.each(withExamples)('%s', async (page) => {
    const text = read(page);
    const replaced = new Map();
    for (const example of examplesOf(text)) {
      const { said, after } = await run(example);
      for (const block of example.blocks) {
        const words = said[block.info];
        if (words !== undefined) replaced.set(block, words);
        if (block.info === 'yaml after') expect(after, `${page}: ${example.heading}`).toMatchObject(parse(block.text));
      }
    }
    // The page itself is the snapshot: `vitest -u` writes new outputs into it.
    await expect(withBlocks(text, replaced)).toMatchFileSnapshot(join(DOCS, page));
  });
});

describe('rules', () => {
  it('has a page for every code, and a code for every page', () => {
    const named = pages.flatMap((page) => /^rules\/(GPU\d+)\.md$/.exec(page)?.[1] ?? []);
    expect(named).toEqual([...codes].sort());
  });

  it.each(codes)('%s: the page has its title, its parts and an example of the rule', async (code) => {
    const text = read(`rules/${code}.md`);
    expect(text.split('\n')[0]).toBe(`# ${code}: ${CODES[code]}`);
    expect([...text.matchAll(/^## (What|Why|Example|How to fix|Related)$/gm)].map(([, part]) => part)).toEqual([
      'What',
      'Why',
      'Example',
      'How to fix',
      'Related',
    ]);
    expect(stated(text, 'Applies')).not.toContain('no line');
    for (const example of examplesOf(text)) {
      const { findings, changes } = (await run(example)).judgement;
      const shown = [
        ...findings.filter((finding) => finding.code === code).map(({ severity }) => severity),
        ...changes.filter((change) => change.code === code).map(() => 'change'),
      ];
      expect(shown.length, `${example.heading} shows ${code}`).toBeGreaterThan(0);
      for (const severity of shown) expect(stated(text, 'Severity')).toContain(severity);
    }
  });

  it('has the table of all rules', async () => {
    const rows = codes.map((code) => `| [${code}](${code}.md) | ${CODES[code]} | ${stated(read(`rules/${code}.md`), 'Severity')} |`);
    const table = ['| code | what | severity |', '| --- | --- | --- |', ...rows].join('\n');
    const index = read('rules/README.md');
    expect(tableOf(index, 'code').length, 'a table that begins with the column code').toBeGreaterThan(0);
    const made = index.replace(/^\| code [\s\S]*?\n(?!\|)/m, () => `${table}\n`);
    await expect(made).toMatchFileSnapshot(join(DOCS, 'rules/README.md'));
  });
});

describe('links', () => {
  it.each(pages)('%s', (page) => {
    for (const link of linksOf(read(page))) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(DOCS, page) : join(DOCS, dirname(page), path);
      expect(existsSync(target), `${link} is there`).toBe(true);
      if (anchor === undefined || statSync(target).isDirectory()) continue;
      expect(anchorsOf(readFileSync(target, 'utf8')), link).toContain(anchor);
    }
  });

  it('lead from docs/README.md to every page', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const link of linksOf(read(page))) {
        const target = relative(DOCS, join(DOCS, dirname(page), link.split('#')[0] ?? ''));
        if (pages.includes(target)) reached.add(target);
      }
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });
});
