import { describe, expect, it } from 'vitest';
import { viewPod } from './pod.ts';
import { reachOf } from './reach.ts';

const node = { name: 'gpu-1', labels: { zone: 'a', memory: '16384', empty: '' }, allocatable: {} };
const reaches = (spec: object, target = node) => reachOf(viewPod({ spec }, [], []))(target);
const terms = (...nodeSelectorTerms: unknown[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const expression = (key: string, operator: string, ...values: unknown[]) =>
  terms({ matchExpressions: [{ key, operator, values }] });
const named = (operator: string, ...values: string[]) =>
  terms({ matchFields: [{ key: 'metadata.name', operator, values }] });
const zone = (value: string) => ({ key: 'zone', operator: 'In', values: [value] });

describe('a pod can reach a node labelled zone=a and memory=16384', () => {
  it.each<[string, object]>([
    ['without a word about nodes', {}],
    ['by nodeName', { nodeName: 'gpu-1' }],
    ['by an empty nodeName', { nodeName: '' }],
    ['by node selector', { nodeSelector: { zone: 'a' } }],
    ['by an empty node selector', { nodeSelector: {} }],
    ['by an empty label', { nodeSelector: { empty: '' } }],
    ['by In', expression('zone', 'In', 'b', 'a')],
    ['by NotIn', expression('zone', 'NotIn', 'b')],
    ['by NotIn of a label that it lacks', expression('other', 'NotIn', 'a')],
    ['by Exists', expression('zone', 'Exists')],
    ['by DoesNotExist', expression('other', 'DoesNotExist')],
    ['by DoesNotExist of a word of JavaScript', expression('constructor', 'DoesNotExist')],
    ['by Gt', expression('memory', 'Gt', '16383')],
    ['by Lt', expression('memory', 'Lt', '16385')],
    ['by a field', named('In', 'gpu-1')],
    ['by one of several alternatives', terms({ matchExpressions: [zone('b')] }, { matchExpressions: [zone('a')] })],
    [
      'by a preference alone',
      {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 1, preference: { matchExpressions: [zone('b')] } },
            ],
          },
        },
      },
    ],
    ['by no term at all, which the API server refuses unless a placement adds one', terms()],
    ['by affinity to other pods', { affinity: { podAffinity: {} } }],
  ])('%s', (_, spec) => {
    expect(reaches(spec)).toBe(true);
  });
});

describe('and cannot', () => {
  it.each<[string, object]>([
    ['by another nodeName', { nodeName: 'gpu-2' }],
    ['by another node selector', { nodeSelector: { zone: 'b' } }],
    ['by one selector of two', { nodeSelector: { zone: 'a', memory: '1' } }],
    ['by a selector of a label that it lacks', { nodeSelector: { other: 'a' } }],
    ['by In', expression('zone', 'In', 'b')],
    ['by In of a label that it lacks', expression('other', 'In', 'a')],
    ['by NotIn', expression('zone', 'NotIn', 'a')],
    ['by Exists', expression('other', 'Exists')],
    ['by Exists of a word of JavaScript', expression('toString', 'Exists')],
    ['by DoesNotExist', expression('zone', 'DoesNotExist')],
    ['by Gt of the same number', expression('memory', 'Gt', '16384')],
    ['by Gt of a label that is no number', expression('zone', 'Gt', '1')],
    ['by Lt of a value that is no number', expression('memory', 'Lt', 'many')],
    ['by an operator that does not exist', expression('zone', 'Is', 'a')],
    ['by another field', named('In', 'gpu-2')],
    [
      'by a field that does not exist',
      terms({ matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['gpu-1'] }] }),
    ],
    [
      'by an expression and a field together',
      terms({ matchExpressions: [zone('a')], matchFields: [{ key: 'metadata.name', operator: 'In', values: ['x'] }] }),
    ],
    ['by an empty term, which matches nothing', terms({})],
    ['by a term that is null', terms(null)],
    ['by selector and affinity together', { nodeSelector: { zone: 'a' }, ...expression('memory', 'Lt', '5') }],
  ])('%s', (_, spec) => {
    expect(reaches(spec)).toBe(false);
  });
});

it('an affinity too long to be searched reaches every node, so that the smallest share is used', () => {
  const values = Array.from({ length: 2000 }, (_, index) => `z${index}`);
  expect(reaches(expression('zone', 'In', ...values))).toBe(true);
});
