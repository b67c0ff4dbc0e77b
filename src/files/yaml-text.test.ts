import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { yamlText } from './yaml-text.ts';

test.each(['yes', 'No', 'on', 'OFF', 'y', '1_000', '0b11', '0x1_F', '12:30', '-1_0', '1.5_0'])(
  '%s is a text in both versions of YAML, as a value, a key, in a list and in flow',
  (text) => {
    const value = { value: text, [text]: [text] };
    for (const collectionStyle of ['block', 'flow'] as const) {
      const written = yamlText(value, { collectionStyle });
      for (const version of ['1.1', '1.2'] as const) expect(parse(written, { version })).toEqual(value);
    }
    expect(parse(yamlText(text), { version: '1.1' })).toBe(text);
  },
);

test('other texts need no quotes', () => {
  expect(yamlText({ a: 'T4', b: 'nvidia.com/gpu', c: '10.0.0.1', d: 'x:1', e: 'not' })).not.toMatch(/["']/);
});
