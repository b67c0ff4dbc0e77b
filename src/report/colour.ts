import { styleText } from 'node:util';

export const COLOURS = ['auto', 'always', 'never'] as const;
export type ColourMode = (typeof COLOURS)[number];

/**
 * Whether to colour what goes to a stream. `auto` leaves it to Node, which looks at NO_COLOR, FORCE_COLOR, TERM=dumb and whether
 * the stream is a terminal.
 */
export function isColoured(mode: ColourMode, stream: NodeJS.WriteStream): boolean {
  if (mode !== 'auto') return mode === 'always';
  return styleText('red', 'x', { stream, validateStream: true }) !== 'x';
}
