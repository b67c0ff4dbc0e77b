import { parseArgs } from 'node:util';

/** How long to measure, and what to print. */
export interface Arguments {
  /** Times that each server is measured. */
  readonly rounds: number;
  /** Length of one measurement. */
  readonly seconds: number;
  /** Print JSON instead of a table. */
  readonly json: boolean;
}

/** Reads the command line; throws an Error that says what is wrong with it. */
export function readArguments(args: readonly string[]): Arguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '12' },
      seconds: { type: 'string', default: '4' },
      json: { type: 'boolean', default: false },
    },
  });
  return { rounds: positive('rounds', values.rounds), seconds: positive('seconds', values.seconds), json: values.json };
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1000)) throw new Error(`--${flag} is ${text}; give a number above 0, up to 1000`);
  return value;
}
