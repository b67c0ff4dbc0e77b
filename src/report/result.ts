import type { Code, Severity } from '../admission/findings.ts';
import type { PatchOperation } from '../admission/patch.ts';

/** What a command found, as plain data: every format is a pure function of it. What is undefined is not known, or does not apply. */
export interface Report {
  /** The verb: `review`, `audit`. */
  readonly command: string;
  /** Of gpugate. */
  readonly version: string;
  /** What was judged, in the order in which it was read. */
  readonly objects: readonly ReportedObject[];
  /** What the reader should know of the run itself, such as a namespace that nothing is known of. */
  readonly notices: readonly Notice[];
  /** What could not be read, so that nothing is said of what it holds. */
  readonly unreadable: readonly Notice[];
}

/** A part of a file. Lines and columns count from 1; the end is behind the last character. */
export interface Place {
  /** As it was given at the command line; `<stdin>` for standard input. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Something to say that is about no object: `namespace team-a is not known ...`. */
export interface Notice {
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** Of a namespace that the webhook configurations leave out: nothing in it is judged, which is not the same as well. */
export function excludedNamespace(namespace: string): Notice {
  return { message: `namespace ${namespace} is left out: the API server does not ask gpugate about it` };
}

/**
 * What becomes of an object: `denied` is refused by the webhook, `pods-denied` is a workload that is admitted and whose pods
 * would be refused; `changed` is changed by it; of one that is `announced` the changes are only told: they are those of a
 * workload's pods, or the mode is warn.
 */
export type Outcome = 'clean' | 'changed' | 'announced' | 'pods-denied' | 'denied';

export interface ReportedObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined for what belongs to no namespace. */
  readonly namespace?: string;
  /** The name, or the generateName prefix; may be empty. */
  readonly name: string;
  /** Where it begins; undefined for an object of a cluster. */
  readonly place?: Place;
  /** Name of the policy that it was judged by; undefined where labels alone, or nothing, govern the namespace. */
  readonly policy?: string;
  readonly mode: 'enforce' | 'warn' | 'audit' | 'none';
  readonly outcome: Outcome;
  readonly findings: readonly ReportedFinding[];
  readonly changes: readonly ReportedChange[];
  /** As kubectl would show them. */
  readonly warnings: readonly string[];
  /** The text of the denial, as kubectl would show it. */
  readonly message?: string;
  /** As a JSON Patch: the changes of the webhook (`changed`), or those that it announces. Of a file it is what the file needs. */
  readonly patch?: readonly PatchOperation[];
  /** The same as hunks of a unified diff, of the file where the object stands in one. */
  readonly diff?: string;
}

export interface ReportedFinding {
  readonly code: Code;
  /** What it leads to. An error refuses the object or its pods; one that the mode does not enforce is a warning here. */
  readonly level: Severity;
  /** `spec.containers[0].resources.limits[nvidia.com/gpu]` */
  readonly field: string;
  readonly value?: string;
  /** Name of the container. */
  readonly container?: string;
  readonly message: string;
  readonly fix: string;
  readonly place?: Place;
}

export interface ReportedChange {
  readonly code: Code;
  /** Name of the container; undefined for the whole pod. */
  readonly container?: string;
  /** `nvidia.com/gpu 1 -> nvidia.com/mig-1g.10gb 1` */
  readonly reason: string;
}

/** A report in numbers. */
export interface Summary {
  readonly objects: number;
  /** By outcome. */
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** By level. */
  readonly findings: Readonly<Record<Severity, number>>;
  readonly unreadable: number;
}

/** What of a report is counted. */
export interface Counted {
  readonly objects: readonly {
    readonly outcome: Outcome;
    readonly findings: readonly { readonly level: Severity }[];
  }[];
  readonly unreadable: readonly unknown[];
}

export function summaryOf({ objects, unreadable }: Counted): Summary {
  const outcomes = { clean: 0, changed: 0, announced: 0, 'pods-denied': 0, denied: 0 };
  const findings = { error: 0, warning: 0, note: 0 };
  for (const object of objects) {
    outcomes[object.outcome] += 1;
    for (const { level } of object.findings) findings[level] += 1;
  }
  return { objects: objects.length, outcomes, findings, unreadable: unreadable.length };
}

/** `Pod team-a/infer` */
export function nameOf({ kind, namespace, name }: Pick<ReportedObject, 'kind' | 'namespace' | 'name'>): string {
  const full = namespace === undefined ? name : `${namespace}/${name || '(no name)'}`;
  return `${kind} ${full || '(no name)'}`;
}
