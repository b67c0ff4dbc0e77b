import { applyPatch, structuredPatch } from 'diff';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fileDiff } from './file-diff.ts';
import { afterBoth, rewritten, type Splice, spliced } from './spliced.ts';

const NOTHING = { text: '', mark: '' };
const diffOf = (name: string, text: string, splices: readonly Splice[], mark = '') =>
  fileDiff(name, { text, mark }, rewritten(text, splices));

it('is one that git apply takes', () => {
  expect(diffOf('d/a.yaml', 'a: 1\nb: 2\n', [{ start: 3, end: 4, text: '3' }])).toBe(
    '--- a/d/a.yaml\n+++ b/d/a.yaml\n@@ -1,2 +1,2 @@\n-a: 1\n+a: 3\n b: 2\n',
  );
});

it.each([
  ['with a space', 'a b.yaml', '--- a/a b.yaml\t\n+++ b/a b.yaml\t\n'],
  ['with a quote and a line break', 'a"\n.yaml', '--- "a/a\\"\\n.yaml"\n+++ "b/a\\"\\n.yaml"\n'],
  ['with a sign of no letter', 'a\u0001é.yaml', '--- "a/a\\001é.yaml"\n+++ "b/a\\001é.yaml"\n'],
])('a name %s is written as git writes it', (_, name, header) => {
  expect(diffOf(name, 'a', [{ start: 0, end: 1, text: 'b' }])).toBe(
    `${header}@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n`,
  );
});

it('a byte order mark stays before the first line', () => {
  expect(diffOf('a', 'a\nb\n', [{ start: 2, end: 3, text: 'c' }], '\uFEFF')).toContain('@@\n \uFEFFa\n-b\n+c\n');
});

it('what stays as it is has no diff', () => {
  expect(fileDiff('a', NOTHING, rewritten('', []))).toBe('');
});

it('is that of the whole texts, where changes stand apart', () => {
  const lines = Array.from({ length: 60 }, (_, row) => `line ${row}\n`);
  const text = lines.join('');
  const changed = [3, 9, 10, 18, 40].map((row) => {
    const start = lines.slice(0, row).join('').length;
    return { start: start + 5, end: start + 6, text: `x\n${row}` };
  });
  const { hunks } = structuredPatch('', '', text, spliced(text, changed));
  const own = diffOf('a', text, changed);
  expect(own.split('\n').filter((line) => line.startsWith('@@'))).toEqual(
    hunks.map(
      ({ oldStart, oldLines, newStart, newLines }) => `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ),
  );
  expect(own).toBe(
    `--- a/a\n+++ b/a\n${hunks.map(({ lines: shown }, index) => `${heads(own)[index]}\n${shown.join('\n')}\n`).join('')}`,
  );
});

function heads(diff: string): readonly string[] {
  return diff.split('\n').filter((line) => line.startsWith('@@'));
}

/** Few signs and many line ends, so that changes touch, and lines come and go. */
const anyText = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\n', '\r\n'), maxLength: 60 });
const splicesOf = (text: string, places: readonly [number, number, string][]): readonly Splice[] => {
  let at = 0;
  return places
    .map(([gap, length, put]) => {
      const start = Math.min(text.length, at + gap);
      at = Math.min(text.length, start + length);
      return { start, end: at, text: put };
    })
    .toReversed();
};
const anyPlaces = fc.array(fc.tuple(fc.nat(14), fc.nat(4), fc.string({ unit: fc.constantFrom('a', 'c', '\n') })), {
  maxLength: 6,
});

it('applied to the file it gives the other text', () => {
  fc.assert(
    fc.property(anyText, anyPlaces, anyPlaces, (text, first, second) => {
      const one = rewritten(text, splicesOf(text, first));
      const two = rewritten(one.text, splicesOf(one.text, second));
      const both = { text: two.text, changes: afterBoth(one.changes, two.changes) };
      for (const after of [one, both]) {
        const diff = fileDiff('a', { text, mark: '' }, after);
        if (diff === '') expect(after.text).toBe(text);
        else expect(applyPatch(text, diff, { autoConvertLineEndings: false })).toBe(after.text);
      }
    }),
    { numRuns: 2000 },
  );
});
