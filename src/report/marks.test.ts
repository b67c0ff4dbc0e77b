import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { mark, styleOf } from './marks.ts';

const stream = new PassThrough() as unknown as NodeJS.WriteStream;

it.each<[NodeJS.ProcessEnv, string]>([
  [{ LANG: 'en_GB.UTF-8' }, '✓'],
  [{ LANG: 'C.utf8' }, '✓'],
  [{ LANG: 'C' }, '+'],
  [{}, '+'],
  [{ LANG: 'en_GB.UTF-8', LC_ALL: 'C' }, '+'],
  [{ LANG: 'C', LC_CTYPE: 'C.UTF-8' }, '✓'],
  [{ LANG: 'C.UTF-8', LC_ALL: '' }, '✓'],
])('marks are drawn as the locale %j can', (env, sign) => {
  expect(mark('ok', { ...styleOf(stream, env), colour: false })).toBe(sign);
});

it('is coloured only where it is told to', () => {
  expect(mark('problem', { utf8: true, colour: true })).toBe('\u001b[31m✗\u001b[39m');
  expect(styleOf(stream, {}).colour).toBe(false);
});
