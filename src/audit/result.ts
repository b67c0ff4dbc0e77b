import type { Code } from '../admission/findings.ts';
import type { Report, ReportedFinding, ReportedObject } from '../report/result.ts';

/** What is wrong in a live cluster today. A report with only the objects that something is said of, the worst first. */
export interface Audit extends Report {
  readonly command: 'audit';
  /** ISO 8601. */
  readonly time: string;
  /** The only namespace that was looked at; undefined for all. */
  readonly namespace?: string;
  /** How many of each were judged, with or without findings. */
  readonly judged: Judged;
  readonly objects: readonly AuditedObject[];
  /** By code: how many owners have it, and how many pods. */
  readonly codes: readonly CodeCount[];
}

export interface Judged {
  readonly pods: number;
  readonly workloads: number;
  readonly namespaces: number;
  readonly policies: number;
  readonly nodes: number;
}

export interface CodeCount {
  readonly code: Code;
  readonly title: string;
  readonly errors: number;
  readonly warnings: number;
  readonly pods: number;
}

/** What owns the pods that something is said of: a Deployment for its ReplicaSets' pods, or a pod that nobody owns. */
export interface AuditedObject extends ReportedObject {
  readonly uid?: string;
  /** Live pods of it that were judged and have a finding. */
  readonly pods: number;
  readonly findings: readonly AuditedFinding[];
}

export interface AuditedFinding extends ReportedFinding {
  /** How many live pods it was found in; 0 where only a template has it. */
  readonly pods: number;
  /** Names of the first of them. */
  readonly examples: readonly string[];
}
