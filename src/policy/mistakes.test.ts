import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mistakeText, nearName, which } from './mistakes.ts';
import { parse } from './parse.ts';

const schema = z.strictObject({
  name: z.string().min(1).max(3).optional(),
  mode: z.enum(['enforce', 'warn']).optional(),
  count: z.number().int().min(0).max(9).optional(),
  on: z.boolean().optional(),
  list: z.array(z.string()).min(1).max(2).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  kind: z.literal('Pod').optional(),
  code: z.string().regex(/^x/, which('is no code')).optional(),
});
const told = (value: unknown, by: z.ZodType = schema) => {
  const read = parse(by, value);
  return read.success ? [] : read.mistakes.map(mistakeText);
};

describe('what is wrong with a field is told in words', () => {
  it.each<[object, string]>([
    [{ name: 5 }, 'name is 5, which is not a text'],
    [{ name: '' }, 'name is empty'],
    [{ name: 'abcd' }, 'name is longer than 3 characters'],
    [{ mode: 'warm' }, 'mode is "warm", which is not one of enforce, warn. Did you mean warn?'],
    [{ mode: 'other' }, 'mode is "other", which is not one of enforce, warn'],
    [{ count: 0.5 }, 'count is 0.5, which is not a whole number'],
    [{ count: 'a' }, 'count is "a", which is not a number'],
    [{ count: -1 }, 'count is -1, which is less than 0'],
    [{ count: 10 }, 'count is 10, which is more than 9'],
    [{ on: 'yes' }, 'on is "yes", which is not true or false'],
    [{ list: {} }, 'list is {}, which is not a list'],
    [{ list: [] }, 'list is empty'],
    [{ list: ['a', 'b', 'c'] }, 'list has more than 2 entries'],
    [{ list: ['a', 1] }, 'list[1] is 1, which is not a text'],
    [{ labels: [] }, 'labels is [], which is not a map'],
    [{ labels: { 'a.io/b': 1 } }, 'labels[a.io/b] is 1, which is not a text'],
    [{ kind: 'pod' }, 'kind is "pod", which is not Pod. Did you mean Pod?'],
    [{ code: 'y' }, 'code is "y", which is no code'],
    [{ moed: 'warn' }, 'moed is not a field that gpugate knows. Did you mean mode?'],
    [{ foo: 1 }, 'foo is not a field that gpugate knows. Known are name, mode, count, on, list, labels, kind, code.'],
  ])('%j', (value, text) => expect(told(value)).toEqual([text]));

  it('of several unknown fields each', () => {
    expect(told({ foo: 1, bar: 2 })).toHaveLength(2);
  });

  it('of what is missing what it should be', () => {
    expect(told({}, z.object({ on: z.boolean(), mode: z.enum(['a', 'b']) }))).toEqual([
      'on is missing; it is true or false',
      'mode is missing; it is one of a, b',
    ]);
  });

  it('of the document itself without a name', () => expect(told(5)).toEqual(['is 5, which is not a map']));

  it('nothing in the words of the library', () => {
    const odd = z.object({ a: z.union([z.string(), z.boolean()]), b: z.date(), c: z.string().startsWith('x') });
    for (const text of told({ a: 1, b: 2, c: 'y' }, odd)) expect(text).toMatch(/^\w is .*, which is not understood$/);
  });
});

it.each([
  ['migg', ['mig', 'mps'], 'mig'],
  ['mgi', ['mig', 'mps'], undefined],
  ['time-slicng', ['time-slicing'], 'time-slicing'],
  ['vgpu', ['exclusive', 'mig'], undefined],
  ['x', [], undefined],
])('the nearest of %s', (name, known, near) => expect(nearName(name, known)).toBe(near));
