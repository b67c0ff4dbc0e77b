import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiAnswer, apiOf } from '../cluster/api.ts';
import type { ControlPlane } from '../cluster/controlplane.ts';
import { type Creation, creation, type Governed, OUTCOMES, type Outcome, outcomeOf } from './creations.ts';

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
  /** From now on it counts under this name. Resolves once what was sent before is answered. */
  phase(name: string, governed?: Governed): Promise<void>;
  /** A process is killed now, without a warning: what is under way may be lost with it. */
  killing(): void;
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

/** An idle connection to a process that was killed is known as closed after this time, also on a busy machine. */
const NOTICED_MS = 100;

/** How the API server tells that a connection ended in the middle; GPU180 follows where it was the mutating call. */
const CUT_OFF = /EOF|connection reset|broken pipe|GPU180/;

/** Starts it. The rate doesn't wait for answers, up to 40 under way. */
export function startStream({ plane, rate, dryRun, timeoutMs = 20_000 }: StreamOptions): Stream {
  const api = apiOf(plane, AT_ONCE);
  const phases: Phase[] = [newPhase('start', 'either')];
  const underWay = new Set<Promise<void>>();
  let number = 0;
  let stopped = false;
  let killedAt = Number.NEGATIVE_INFINITY;

  const ask = async ({ namespace, object }: Creation): Promise<Answer> => {
    const path = `/api/v1/namespaces/${namespace}/pods${dryRun ? '?dryRun=All' : ''}`;
    const over = new AbortController();
    const none = (message: string): Answer => ({ code: 0, body: { message } });
    const late = sleep(timeoutMs, none('no answer in time'), { signal: over.signal });
    late.catch(() => {}); // An answer came.
    const answer = await Promise.race([api('POST', path, object).catch((error: Error) => none(error.message)), late]);
    over.abort();
    return answer;
  };

  const send = async (phase: Phase, made: Creation): Promise<void> => {
    phase.sent++;
    const sentAt = performance.now();
    const answer = await ask(made);
    const killed = killedAt > sentAt - NOTICED_MS && performance.now() > killedAt;
    // A label that is set between the mutating and the validating call: controllers try again as well.
    if (phase.governed === 'either' && /try again/i.test(answer.body.message ?? '')) {
      await sleep(1000);
      count(phase, made, await ask(made), { killed, again: true });
    } else count(phase, made, answer, { killed, again: false });
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
    async phase(name, governed = 'yes') {
      close();
      const before = [...underWay];
      phases.push(newPhase(name, governed));
      await Promise.all(before);
    },
    killing: () => {
      killedAt = performance.now();
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

type Answer = Pick<ApiAnswer, 'code' | 'body'>;

interface Phase {
  readonly phase: string;
  readonly governed: Governed;
  readonly started: number;
  seconds: number;
  sent: number;
  readonly outcomes: Record<Outcome, number>;
  readonly examples: string[];
  readonly troubles: Record<string, number>;
}

function newPhase(phase: string, governed: Governed): Phase {
  return {
    phase,
    governed,
    started: performance.now(),
    seconds: 0,
    sent: 0,
    outcomes: Object.fromEntries(OUTCOMES.map((name) => [name, 0])) as Record<Outcome, number>,
    examples: [],
    troubles: {},
  };
}

function count(phase: Phase, made: Creation, { code, body }: Answer, at: { killed: boolean; again: boolean }): void {
  const judged = outcomeOf(made, phase.governed, code, body);
  const lost = at.killed && judged !== 'right' && CUT_OFF.test(body.message ?? '');
  const outcome = lost ? 'lost with a process' : at.again && judged === 'right' ? 'right the second time' : judged;
  phase.outcomes[outcome]++;
  const { message = '' } = body;
  if (outcome === 'no answer') {
    const kind = `${code} ${message.replaceAll(/"[^"]*"|\bp\d+\b|\d+\.\d+\.\d+\.\d+(:\d+)?/g, '_').slice(0, 160)}`;
    phase.troubles[kind] = (phase.troubles[kind] ?? 0) + 1;
  } else if (!outcome.startsWith('right') && phase.examples.length < 5) {
    phase.examples.push(
      `${outcome}: wanted ${made.expected} in ${made.namespace}, got ${code} ${message.slice(0, 400)}`,
    );
  }
}

/** The table for people. */
export function table(counts: readonly Counts[]): string {
  const rows = [
    ['phase', 'seconds', 'a second', 'sent', 'answered', ...OUTCOMES],
    ...counts.map(({ phase, seconds, sent, outcomes }) => [
      phase,
      seconds.toFixed(1),
      (sent / seconds).toFixed(0),
      String(sent),
      String(sent - outcomes['no answer']),
      ...OUTCOMES.map((name) => String(outcomes[name])),
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, at) => padded(cell, at, widths[at] ?? 0)).join('  ')).join('\n');
}

function padded(cell: string, column: number, width: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
