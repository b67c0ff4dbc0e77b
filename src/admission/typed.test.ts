import { expect, it } from 'vitest';
import { typedValues } from './typed.ts';

const applied = (text: string) => ({
  metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': text } },
});
const pod = (value: unknown, list = 'containers') => ({
  spec: { [list]: [{ name: 'train', resources: { limits: { 'nvidia.com/gpu': value } } }] },
});
const ask = (object: unknown, decoded: unknown, path: string[] = []) =>
  typedValues(object, path)('train', 'limits', 'nvidia.com/gpu', decoded);

it.each<[string, unknown, unknown, string | undefined]>([
  ['a number that became milli', pod(0.5), '500m', '0.5'],
  ['a text that became milli', pod('0.5'), '500m', '0.5'],
  ['a value that the API server rounded up', pod('0.9999999'), '1', '0.9999999'],
  ['another value', pod('0.7'), '500m', undefined],
  ['a value that is no quantity', pod('half'), '500m', undefined],
  ['a decoded value that is no quantity', pod('half'), 'half', undefined],
  ['an init container', pod(0.5, 'initContainers'), '500m', '0.5'],
  ['spaces around it', pod(' 0.5 '), '500m', ' 0.5 '],
  ['a long spelling', pod(`0.5${'0'.repeat(99)}`), '500m', `0.5${'0'.repeat(37)}...`],
])('the typed spelling: %s', (_, typed, decoded, want) => {
  expect(ask(applied(JSON.stringify(typed)), decoded)).toBe(want);
});

it('is found in the template of a workload', () => {
  const path = ['spec', 'template'];
  expect(ask(applied(JSON.stringify({ spec: { template: pod(0.5) } })), '500m', path)).toBe('0.5');
});

it.each([
  '',
  '{',
  'null',
  '1',
  '[]',
  '"x"',
  '{"spec":null}',
  '{"spec":{"containers":{}}}',
  '{"spec":{"containers":[null,1]}}',
])('an annotation that holds %s tells nothing', (text) => {
  expect(ask(applied(text), '500m')).toBeUndefined();
  expect(ask(applied(text), '500m', ['spec', 'template'])).toBeUndefined();
});

it.each([
  undefined,
  null,
  1,
  {},
  { metadata: null },
  { metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 1 } } },
])('an object like %j tells nothing', (object) => {
  expect(ask(object, '500m')).toBeUndefined();
});
