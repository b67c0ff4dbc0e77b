import { Counter, Gauge, type Registry } from 'prom-client';
import type { WatchState } from '../cluster/source.ts';

/** Registers what each watch says of itself whenever the metrics are read; the label is the plural name: `namespaces`. */
export function watchMetrics(registers: Registry[], watches: () => readonly WatchState[]): void {
  const gauge = (name: string, help: string, read: (state: WatchState) => number | undefined) =>
    new Gauge({
      name: `gpugate_watch_${name}`,
      help,
      labelNames: ['resource'],
      registers,
      collect() {
        for (const state of watches()) {
          const value = read(state);
          if (value !== undefined) this.set({ resource: state.resource }, value);
        }
      },
    });
  const counter = (name: string, help: string, read: (state: WatchState) => number) =>
    new Counter({
      name: `gpugate_watch_${name}_total`,
      help,
      labelNames: ['resource'],
      registers,
      collect() {
        this.reset();
        for (const state of watches()) this.inc({ resource: state.resource }, read(state));
      },
    });

  gauge('synced', '1 once the first full list of the resource has been read, else 0.', ({ synced }) =>
    synced ? 1 : 0,
  );
  gauge(
    'last_event_timestamp_seconds',
    'When the watch of the resource last heard from the API server, in seconds since the epoch; bookmarks come every minute.',
    ({ lastEventAt }) => (lastEventAt === undefined ? undefined : lastEventAt / 1000),
  );
  gauge('objects', 'Objects of the resource in memory.', ({ objects }) => objects);
  counter('lists', 'Full lists read.', ({ lists }) => lists);
  counter(
    'failures',
    'Lists and watches that failed or ended too early; each is tried again.',
    (state) => state.failures,
  );
  counter(
    'faults',
    'Objects that could not be read and handlers that threw; the watch goes on.',
    ({ faults }) => faults,
  );
}
