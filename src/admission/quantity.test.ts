import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compareQuantities, decimal, parseQuantity, quantityFromJson } from './quantity.ts';

interface Vectors {
  parse: { in: string; valid: boolean; nano?: string }[];
  compare: { a: string; b: string; cmp: number }[];
}
const vectors: Vectors = JSON.parse(readFileSync(new URL('../../test/data/quantities.json', import.meta.url), 'utf8'));

function parsed(text: string) {
  const quantity = parseQuantity(text);
  if (!quantity) throw new Error(`${text} is not a quantity`);
  return quantity;
}

describe('quantities as the Go parser reads them', () => {
  it(`agrees on all ${vectors.parse.length} parse vectors`, () => {
    expect(vectors.parse).toHaveLength(1260);
    const ours = vectors.parse.map(({ in: text }) => {
      const quantity = parseQuantity(text);
      return { in: text, valid: quantity !== undefined, nano: quantity?.nano.toString() };
    });
    expect(ours).toEqual(vectors.parse.map(({ in: text, valid, nano }) => ({ in: text, valid, nano })));
  });

  it(`agrees on all ${vectors.compare.length} comparisons`, () => {
    for (const { a, b, cmp } of vectors.compare) {
      expect(compareQuantities(parsed(a), parsed(b)), `${a} against ${b}`).toBe(cmp);
    }
  });

  it.each([
    ['1e2147483647', 10n ** 1000n],
    ['1e2147483648', 1n],
    ['1e-2147483648', 1n],
    ['1e4294967296', 1_000_000_000n],
    ['9'.repeat(100_000), 10n ** 1000n],
    [`0.${'0'.repeat(100_000)}1`, 1n],
    [`1.${'0'.repeat(100_000)}`, 1_000_000_000n],
    [`1.${'0'.repeat(100_000)}1`, 1_000_000_001n],
    [`${'0'.repeat(100_000)}2`, 2_000_000_000n],
    [`1.${'0'.repeat(100_000)}Ki`, 1_024_000_000_000n],
  ])('answers %.20s at once', (text, nano) => {
    expect(parsed(text).nano).toBe(nano);
  });

  it.each([`${'9'.repeat(100_000)}x`, `1${'E'.repeat(100_000)}`, `.${'0'.repeat(100_000)}-`])(
    'refuses %.20s at once',
    (text) => {
      expect(parseQuantity(text)).toBeUndefined();
    },
  );

  it('refuses an exponent that is no int64', () => {
    expect(parseQuantity('1e99999999999999999999')).toBeUndefined();
  });

  it.each([
    [1, '1'],
    [0.5, '0.5'],
    [1e21, '1000000000000000000000'],
    [' 1 ', '1'],
    ['500m', '0.5'],
    ['-1500m', '-1.5'],
  ])('takes the JSON value %j', (value, text) => {
    const quantity = quantityFromJson(value);
    expect(quantity && decimal(quantity)).toBe(text);
  });

  it.each([null, true, [1], { a: 1 }, undefined, '', '0x1', '١', 'one'])('refuses the JSON value %j', (value) => {
    expect(quantityFromJson(value)).toBeUndefined();
  });
});
