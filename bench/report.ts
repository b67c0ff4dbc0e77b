import type { Measurement } from './measure.ts';
import { type Spread, spread } from './statistics.ts';

/** The same round of both servers, one right after the other. */
export interface Round {
  readonly gpugate: Measurement;
  readonly bare: Measurement;
}

type Measure = Exclude<keyof Measurement, 'requests'>;

const MEASURES: readonly { readonly of: Measure; readonly title: string; readonly digits: number }[] = [
  { of: 'requestsPerSecond', title: 'requests/s', digits: 0 },
  { of: 'p50Ms', title: 'p50 ms', digits: 1 },
  { of: 'p99Ms', title: 'p99 ms', digits: 1 },
  { of: 'cpuUsPerRequest', title: 'CPU us/request', digits: 0 },
  { of: 'rssMiB', title: 'RSS MiB', digits: 0 },
];

/** Median and range over the rounds: of each server, and of gpugate divided by bare within a round. */
export interface Summary {
  readonly gpugate: Spread;
  readonly bare: Spread;
  readonly ratio: Spread;
}

/** Every measure, summed up over the rounds. */
export function summarize(rounds: readonly Round[]): Readonly<Record<Measure, Summary>> {
  const summary = (of: Measure): Summary => ({
    gpugate: spread(rounds.map(({ gpugate }) => gpugate[of])),
    bare: spread(rounds.map(({ bare }) => bare[of])),
    ratio: spread(rounds.map(({ gpugate, bare }) => gpugate[of] / bare[of])),
  });
  return Object.fromEntries(MEASURES.map(({ of }) => [of, summary(of)])) as Record<Measure, Summary>;
}

/** The summary as a table for people. */
export function table(rounds: readonly Round[]): string {
  const summaries = summarize(rounds);
  const rows = MEASURES.map(({ of, title, digits }) => {
    const { gpugate, bare, ratio } = summaries[of];
    return [title, text(gpugate, digits), text(bare, digits), text(ratio, 2)];
  });
  const head = ['median [range]', 'gpugate', 'bare Fastify', 'ratio'];
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(at === 0 ? 16 : 22))
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

function text({ median, lowest, highest }: Spread, digits: number): string {
  return `${median.toFixed(digits)} [${lowest.toFixed(digits)} - ${highest.toFixed(digits)}]`;
}
