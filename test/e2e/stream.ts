import { setTimeout as sleep } from 'node:timers/promises';
import { apiOf } from '../cluster/api.ts';
import type { ControlPlane } from '../cluster/controlplane.ts';
import { type Creation, creation, type Outcome, outcomeOf } from './creations.ts';

/** What became of the creations of one phase. */
export interface Counts {
  readonly phase: string;
  readonly seconds: number;
  readonly sent: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** The first answers that were neither right nor missing, for people. */
  readonly examples: readonly string[];
  /** Answers of the API server's own trouble, by their text. */
  readonly troubles: Readonly<Record<string, number>>;
}

/** Creations at a steady rate, until it is stopped. */
export interface Stream {
  /** From now on it counts under this name. */
  phase(name: string): void;
  /** Waits for what is under way; all phases in order. */
  stop(): Promise<readonly Counts[]>;
}

export interface StreamOptions {
  readonly plane: ControlPlane;
  /** Creations a second. */
  readonly rate: number;
  /** True leaves nothing in etcd: all of admission runs, the object isn't stored. */
  readonly dryRun: boolean;
  /** How soon to give up; the API server gives up after 60 s itself. */
  readonly timeoutMs?: number;
}

// More than that under way means that the API server hangs; nothing is gained by piling up.
const AT_ONCE = 40;

/** Starts it. The rate doesn't wait for answers, up to 40 under way. */
export function startStream({ plane, rate, dryRun, timeoutMs = 20_000 }: StreamOptions): Stream {
  const api = apiOf(plane, AT_ONCE);
  const phases: Phase[] = [newPhase('start')];
  const underWay = new Set<Promise<void>>();
  let number = 0;
  let stopped = false;

  const send = async (phase: Phase, made: Creation): Promise<void> => {
    phase.sent++;
    const path = `/api/v1/namespaces/${made.namespace}/pods${dryRun ? '?dryRun=All' : ''}`;
    const late = new AbortController();
    const answer = await Promise.race([
      api('POST', path, made.object).catch((error: Error) => ({ code: 0, body: { message: error.message } })),
      sleep(timeoutMs, { code: 0, body: { message: 'no answer in time' } }, { signal: late.signal }).catch(
        () => undefined,
      ),
    ]);
    late.abort();
    if (answer) count(phase, made, answer.code, answer.body);
  };

  const loop = async (): Promise<void> => {
    let due = performance.now();
    while (!stopped) {
      due += 1000 / rate;
      if (underWay.size < AT_ONCE) {
        const sending = send(phases.at(-1) as Phase, creation(number++)).finally(() => underWay.delete(sending));
        underWay.add(sending);
      }
      const wait = due - performance.now();
      if (wait > 0) await sleep(wait);
      else if (wait < -1000) due = performance.now(); // The machine was busy; no burst to make up for it.
    }
  };
  const looping = loop();

  const close = (): void => {
    const phase = phases.at(-1) as Phase;
    phase.seconds = (performance.now() - phase.started) / 1000;
  };
  return {
    phase(name) {
      close();
      phases.push(newPhase(name));
    },
    async stop() {
      close();
      stopped = true;
      await looping;
      await Promise.all(underWay);
      return phases.filter(({ sent }) => sent > 0);
    },
  };
}

interface Phase {
  readonly phase: string;
  readonly started: number;
  seconds: number;
  sent: number;
  readonly outcomes: Record<Outcome, number>;
  readonly examples: string[];
  readonly troubles: Record<string, number>;
}

function newPhase(phase: string): Phase {
  return {
    phase,
    started: performance.now(),
    seconds: 0,
    sent: 0,
    outcomes: { right: 0, 'refused wrongly': 0, 'let by wrongly': 0, 'refused unasked': 0, 'no answer': 0 },
    examples: [],
    troubles: {},
  };
}

function count(phase: Phase, made: Creation, code: number, body: unknown): void {
  const outcome = outcomeOf(made, code, body);
  phase.outcomes[outcome]++;
  const { message = '' } = body as { message?: string };
  if (outcome === 'no answer') {
    const kind = `${code} ${message.replaceAll(/"[^"]*"|\bp\d+\b|\d+\.\d+\.\d+\.\d+(:\d+)?/g, '_').slice(0, 160)}`;
    phase.troubles[kind] = (phase.troubles[kind] ?? 0) + 1;
  } else if (outcome !== 'right' && phase.examples.length < 5) {
    phase.examples.push(
      `${outcome}: wanted ${made.expected} in ${made.namespace}, got ${code} ${message.slice(0, 400)}`,
    );
  }
}

/** The table for people. */
export function table(counts: readonly Counts[]): string {
  const rows = [
    [
      'phase',
      'seconds',
      'a second',
      'sent',
      'answered',
      'right',
      'refused wrongly',
      'let by wrongly',
      'refused unasked',
      'no answer',
    ],
    ...counts.map(({ phase, seconds, sent, outcomes }) => [
      phase,
      seconds.toFixed(1),
      (sent / seconds).toFixed(0),
      String(sent),
      String(sent - outcomes['no answer']),
      ...(['right', 'refused wrongly', 'let by wrongly', 'refused unasked', 'no answer'] as const).map((name) =>
        String(outcomes[name]),
      ),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return rows.map(line).join('\n');
}
