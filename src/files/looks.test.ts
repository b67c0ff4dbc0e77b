import { afterEach, expect, it } from 'vitest';
import { lookAgainAndAgain } from './looks.ts';

const never = 2 ** 30;
let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** Looks that the test ends one by one, and the faults that were told. */
function looks() {
  const faults: string[] = [];
  const under: PromiseWithResolvers<void>[] = [];
  const look = () => {
    const one = Promise.withResolvers<void>();
    under.push(one);
    return one.promise;
  };
  const looking = lookAgainAndAgain(look, { intervalMs: never, onFault: ({ message }) => faults.push(message) });
  stop = looking.stop;
  return { faults, under, lookNow: looking.lookNow };
}

it('a fault is told once, until a look is well again or another fault comes', async () => {
  const { faults, under, lookNow } = looks();
  for (const fault of ['cut short', 'cut short', 'expired', undefined, 'expired']) {
    lookNow();
    const look = under.pop();
    if (fault === undefined) look?.resolve();
    else look?.reject(new Error(fault));
    await new Promise(setImmediate);
  }
  expect(faults).toEqual(['cut short', 'expired', 'expired']);
});

it('no look begins while another is under way', async () => {
  const { under, lookNow } = looks();
  lookNow();
  lookNow();
  expect(under).toHaveLength(1);
  under[0]?.resolve();
  await new Promise(setImmediate);
  lookNow();
  expect(under).toHaveLength(2);
});
