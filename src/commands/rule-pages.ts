import { readdirSync, readFileSync } from 'node:fs';

const DOCS = new URL('../../docs/rules/', import.meta.url);

/** The pages of docs/rules/ by their codes. A bundle has their text in the place of this module (scripts/bundle.ts). */
export const RULE_PAGES: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(DOCS)
    .flatMap((name) => /^(GPU\d+)\.md$/.exec(name)?.[1] ?? [])
    .sort()
    .map((code) => [code, readFileSync(new URL(`${code}.md`, DOCS), 'utf8')]),
);
