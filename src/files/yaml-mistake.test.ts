import { expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { yamlMistake } from './yaml-mistake.ts';

it.each([
  ['a: 1\nnvidia.com/gpu: 1\nnvidia.com/gpu: 2\n', 'key "nvidia.com/gpu" is already set in this map'],
  ['{ nvidia.com/gpu: 1, nvidia.com/gpu: 2 }', 'key "nvidia.com/gpu" is already set in this map'],
  ['{"a b":1,"a b":2}', 'key "a b" is already set in this map'],
  ["'a': 1\n'a': 2\n", 'key "a" is already set in this map'],
  ['a:\n  x: 1\na:\n  x: 2\n', 'key "a" is already set in this map'],
  ['a: [', /^Flow sequence in block collection/],
])('%j', (text, said) => {
  const [error] = parseDocument(text, { prettyErrors: false }).errors;
  if (!error) throw new Error('it is fine');
  const message = yamlMistake(error, text);
  if (typeof said === 'string') expect(message).toBe(said);
  else expect(message).toMatch(said);
});
