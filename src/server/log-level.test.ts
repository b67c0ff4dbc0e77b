import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followLevel } from './log-level.ts';

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-'));
  file = join(dir, 'log-level');
  return () => rm(dir, { recursive: true });
});

let stop: (() => void) | undefined;
afterEach(() => stop?.());

function follow(own: string) {
  const lines: { level: number; msg: string; reason?: string }[] = [];
  const logger = pino({ level: own, base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  stop = followLevel(file, logger, 10);
  return { logger, lines };
}

async function write(text: string): Promise<void> {
  await writeFile(`${file}.next`, text);
  await rename(`${file}.next`, file);
}

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await sleep(10);
}

describe('the level of the log', () => {
  it('is that of the file, and the own one while there is none', async () => {
    const { logger } = follow('info');
    expect(logger.level).toBe('info');
    await write('debug\n');
    await until(() => logger.level === 'debug');
    await write('\n');
    await until(() => logger.level === 'info');
    await write('error');
    await until(() => logger.level === 'error');
    await rm(file);
    await until(() => logger.level === 'info');
  });

  it.each([
    ['info', 'error'],
    ['error', 'debug'],
    ['info', 'silent'],
  ])('is told in the log when it changes from %s to %s', async (own, level) => {
    const { logger, lines } = follow(own);
    await write(level);
    await until(() => logger.level === level);
    expect(lines).toMatchObject([{ before: own, level, msg: 'log level changed' }]);
  });

  it('stays when the file holds something else, which is told once', async () => {
    await write('debug');
    const { logger, lines } = follow('info');
    await until(() => logger.level === 'debug');
    await write('loud');
    await until(() => lines.length > 1);
    await sleep(50);
    expect(logger.level).toBe('debug');
    expect(lines.slice(1)).toMatchObject([
      { msg: 'the log level stays as it is', reason: expect.stringContaining(`${file}: "loud" is not a level`) },
    ]);
  });

  it('that is none at the start is told too, and the own one is in force', async () => {
    await write('loud');
    const { logger, lines } = follow('info');
    await until(() => lines.length > 0);
    expect(logger.level).toBe('info');
    expect(lines).toMatchObject([
      {
        reason: `${file}: "loud" is not a level; write one of trace, debug, info, warn, error, fatal, silent`,
      },
    ]);
  });
});
