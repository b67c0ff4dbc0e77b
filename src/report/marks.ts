import { styleText } from 'node:util';

export type MarkName = 'ok' | 'problem' | 'warning' | 'unknown';

const SIGNS: Readonly<Record<MarkName, readonly [utf8: string, ascii: string]>> = {
  ok: ['✓', '+'],
  problem: ['✗', 'x'],
  warning: ['!', '!'],
  unknown: ['?', '?'],
};
const COLOURS = { ok: 'green', problem: 'red', warning: 'yellow', unknown: 'yellow' } as const;

/** How marks are drawn on this terminal: in UTF-8 only where the locale says so, coloured only on a terminal. */
export interface Style {
  readonly utf8: boolean;
  readonly colour: boolean;
}

/**
 * As setlocale(3) reads the locale: LC_ALL over LC_CTYPE over LANG. Colour follows Node: NO_COLOR, FORCE_COLOR, TERM, and whether
 * the stream is a terminal.
 */
export function styleOf(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): Style {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const plain = styleText('red', 'x', { stream, validateStream: true }) === 'x';
  return { utf8: /utf-?8/i.test(locale), colour: !plain };
}

export function mark(name: MarkName, { utf8, colour }: Style): string {
  const sign = SIGNS[name][utf8 ? 0 : 1];
  return colour ? styleText(COLOURS[name], sign, { validateStream: false }) : sign;
}

export function dim(text: string, { colour }: Style): string {
  return colour ? styleText('dim', text, { validateStream: false }) : text;
}

export function bold(text: string, { colour }: Style): string {
  return colour ? styleText('bold', text, { validateStream: false }) : text;
}
