import { expect, it } from 'vitest';
import type { ContainerRole, ContainerView } from './pod.ts';
import { podTotal } from './totals.ts';

/** `init 1` is an init container with one unit; containers in their order. */
function total(text: string): bigint {
  const units = new Map<ContainerView, bigint>();
  for (const part of text.split(', ')) {
    const [role = '', count = '0'] = part.split(' ');
    units.set(
      {
        role: role as ContainerRole,
        name: '',
        field: '',
        path: [],
        gpus: [],
        otherResources: [],
        env: [],
        hasClaims: false,
        spec: {},
      },
      BigInt(count),
    );
  }
  return podTotal([...units.keys()], (container) => units.get(container) ?? 0n);
}

it.each([
  ['app 1', 1n],
  ['app 1, app 2', 3n],
  ['init 1, app 1', 1n],
  ['init 3, app 1', 3n],
  ['init 1, init 2, app 1', 2n],
  ['sidecar 1, app 1', 2n],
  ['init 1, sidecar 1, app 1', 2n],
  ['sidecar 1, init 1, app 0', 2n],
  ['sidecar 1, init 3, sidecar 1, app 1', 4n],
  ['init 3, sidecar 1, init 2, app 1', 3n],
  ['sidecar 1, sidecar 2, init 1, app 0', 4n],
  ['init 3, sidecar 2, init 2, app 0', 4n],
  ['app 1, ephemeral 5', 1n],
])('%s takes %s', (containers, units) => {
  expect(total(containers)).toBe(units);
});
