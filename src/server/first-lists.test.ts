import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { waitForFirstLists } from './first-lists.ts';

describe('a review while the first lists are read', () => {
  it('waits until they are there', async () => {
    let synced = false;
    const events: string[] = [];
    const wait = waitForFirstLists(() => synced);
    const review = wait().then(() => events.push('judged'));
    await sleep(50);
    events.push('listed');
    synced = true;
    await review;
    expect(events).toEqual(['listed', 'judged']);
  });

  it('goes on without them after a while', async () => {
    await expect(waitForFirstLists(() => false)()).resolves.toBeUndefined();
  });

  it('asks no more once they were there', async () => {
    let asked = 0;
    const wait = waitForFirstLists(() => {
      asked++;
      return true;
    });
    await wait();
    await wait();
    expect(asked).toBe(1);
  });
});
