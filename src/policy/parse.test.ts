import { expect, it } from 'vitest';
import { z } from 'zod';
import { parse } from './parse.ts';

const schema = z.object({ name: z.string().min(1) });

it('tells the field of a value whose length cannot be compared', () => {
  const read = parse(schema, { name: { length: { toString: {} } } });
  expect(read).toMatchObject({ mistakes: [{ path: ['name'] }] });
});

it.each([
  [{ name: 'a' }, true],
  [{ name: '' }, false],
  [{ name: { length: 1 } }, false],
  [undefined, false],
])('reads %j as the schema does', (value, success) => {
  expect(parse(schema, value).success).toBe(success);
});
