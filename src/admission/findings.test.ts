import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CODES } from './findings.ts';

const RULES = new URL('rules/', import.meta.url);
const files = readdirSync(RULES).filter((name) => /^gpu\d+-.+(?<!\.test)\.ts$/.test(name));
const codeOf = (file: string) => file.slice(0, 6).toUpperCase();
const list = readFileSync(new URL('evaluate.ts', import.meta.url), 'utf8');

describe('the catalogue of codes', () => {
  it('has one rule file for each code', () => {
    expect(files.map(codeOf).sort()).toEqual(Object.keys(CODES).sort());
  });

  it.each(files)('%s has a table of cases, and is asked', (file) => {
    expect(readdirSync(RULES)).toContain(file.replace('.ts', '.test.ts'));
    // GPU180 is found by the state of the final pod, which only `decide` knows.
    expect(codeOf(file) === 'GPU180' || list.includes(`./rules/${file}`)).toBe(true);
  });
});
