import type { NodeInfo } from '../admission/snapshot.ts';
import type { Extras } from './extras.ts';

export type { NodeInfo };

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** What is known of a namespace. `unknown`: it could not be read in time, or not at all. */
export type NamespaceLookup =
  | { readonly found: true; readonly labels: Labels }
  | { readonly found: false }
  | { readonly found: 'unknown'; readonly reason: string };

/** How one watch is doing, for metrics and readiness. */
export interface WatchState {
  /** Plural name of the resource: `namespaces`. */
  readonly resource: string;
  /** The first full list has been read. */
  readonly synced: boolean;
  /** When the API server was last heard, in milliseconds since the epoch. */
  readonly lastEventAt: number | undefined;
  /** Objects in memory. */
  readonly objects: number;
  /** Full lists read so far. */
  readonly lists: number;
  /** Lists and watches that failed or ended too early. */
  readonly failures: number;
  /** Objects that could not be read and handlers that threw; neither stops the watch. */
  readonly faults: number;
}

/** Namespaces and nodes, from a cluster or from files. Everything but `namespaceLabels` answers from memory at once. */
export interface ClusterSource {
  /** Labels of a namespace that is in memory; undefined otherwise, which does not say that it does not exist. */
  known(name: string): Labels | undefined;
  /**
   * Labels of a namespace. One that is not in memory costs a GET, shared by all who ask at that moment, and at most
   * `timeoutMs` (default 1000). `refresh` reads it again though it is known. Never rejects.
   */
  namespaceLabels(name: string, options?: NamespaceLabelsOptions): Promise<NamespaceLookup>;
  /** Labels of all namespaces that are in memory, by name; the same map as long as none has changed. */
  namespaces(): ReadonlyMap<string, Labels>;
  /** All nodes; the same array as long as none has changed. */
  nodes(): readonly NodeInfo[];
  /** What only some policies need; undefined when files are the source. */
  readonly extras?: Extras;
  /** Every watch has listed once, but for those of `extras`. */
  synced(): boolean;
  /** One entry for each watch; none when files are the source. */
  watches(): readonly WatchState[];
  /** Ends watches and connections. */
  close(): Promise<void>;
}

interface NamespaceLabelsOptions {
  readonly refresh?: boolean;
  readonly timeoutMs?: number;
}
