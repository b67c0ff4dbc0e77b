import type { KubernetesObject } from '../cluster/store.ts';
import type { PolicySet } from '../policy/resolve.ts';
import type { Entry } from '../registration/entries.ts';

/** What reading something gave. `forbidden`: by RBAC, which says nothing of gpugate. */
export type Read<T> =
  | { readonly state: 'read'; readonly value: T }
  | { readonly state: 'absent' }
  | { readonly state: 'forbidden' };

/** A webhook configuration, as far as it is looked at. */
export interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks?: readonly Webhook[];
}

export interface Webhook {
  readonly name: string;
  readonly clientConfig: {
    readonly url?: string;
    readonly service?: {
      readonly namespace: string;
      readonly name: string;
      readonly port?: number;
      readonly path?: string;
    };
    readonly caBundle?: string;
  };
  readonly failurePolicy?: string;
  readonly namespaceSelector?: { readonly matchExpressions?: readonly Expression[] };
  readonly [field: string]: unknown;
}

export interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** What came of creating an object as a dry run. */
export type Tried =
  | { readonly outcome: 'created'; readonly object: unknown; readonly warnings: readonly string[] }
  | { readonly outcome: 'refused'; readonly status: number; readonly message: string };

/** A dry run, and what it should come to. */
export interface Probe {
  readonly name: 'a GpuPolicy to refuse' | 'a pod to refuse' | 'a pod to change' | 'a pod to judge' | 'a pod to pass';
  readonly path: string;
  readonly object: object;
  readonly namespace?: string;
  /** Of a pod to change: JSON pointers of what must stand there afterwards. */
  readonly expects?: readonly { readonly path: string; readonly value: unknown }[];
}

/** A TLS handshake with what answers at the address of an entry. */
export interface Handshake {
  readonly address: string;
  /** The leaf that was served; undefined when no handshake came about. */
  readonly leaf?: { readonly notBefore: Date; readonly notAfter: Date; readonly serial: string };
  /** Why the caBundle does not make the leaf trusted, or why there was no handshake. */
  readonly problem?: string;
}

export interface ServiceState {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly service: Read<{ readonly ports: readonly number[] }>;
  readonly endpoints: Read<{ readonly ready: number; readonly notReady: number }>;
  readonly pods: Read<readonly { readonly name: string; readonly image: string; readonly ready: boolean }[]>;
}

/** All that the doctor looks at, read before; the checks are pure functions of it. */
export interface DoctorInput {
  /** Of this gpugate. */
  readonly version: string;
  readonly now: Date;
  /** `v1.37.2` */
  readonly server: string;
  readonly mutating: Read<WebhookConfiguration>;
  readonly validating: Read<WebhookConfiguration>;
  /** Name of both configurations. */
  readonly configuration: string;
  /** What this version would register. */
  readonly entries: readonly Entry[];
  readonly excludedNamespaces: readonly string[];
  readonly crd: Read<KubernetesObject>;
  readonly services: readonly ServiceState[];
  readonly handshakes: readonly Handshake[];
  /** Addresses that can't be reached from here. */
  readonly outOfReach: readonly string[];
  readonly policies: Read<{ readonly set: PolicySet; readonly objects: readonly KubernetesObject[] }>;
  readonly namespaces: Read<ReadonlyMap<string, Readonly<Record<string, string>>>>;
  readonly probes: readonly { readonly probe: Probe; readonly tried: Tried }[];
  /** Why no pod to change was tried. */
  readonly noChange?: string;
}
