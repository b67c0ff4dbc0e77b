/** `warning`: it may be meant so, and gpugate works. `unknown`: it can't be seen from here, or not by you. */
export type DoctorMark = 'ok' | 'problem' | 'warning' | 'unknown';

/** One thing that a check says. */
export interface Said {
  readonly mark: DoctorMark;
  readonly text: string;
  /** The command to run next. */
  readonly next?: string;
}

export const CHECKS = ['versions', 'registration', 'certificates', 'service', 'dry runs', 'policies'] as const;
export type CheckName = (typeof CHECKS)[number];

export interface Checked {
  readonly name: CheckName;
  readonly mark: DoctorMark;
  readonly said: readonly Said[];
}

export interface Diagnosis {
  /** Nothing is wrong; warnings and what can't be seen don't count. */
  readonly well: boolean;
  readonly checks: readonly Checked[];
}

const WORST: readonly DoctorMark[] = ['problem', 'warning', 'unknown', 'ok'];

export function worst(said: readonly Said[]): DoctorMark {
  return WORST.find((mark) => said.some((each) => each.mark === mark)) ?? 'ok';
}

export const ok = (text: string): Said => ({ mark: 'ok', text });
export const problem = (text: string, next: string): Said => ({ mark: 'problem', text, next });
export const warning = (text: string, next?: string): Said => ({ mark: 'warning', text, ...(next ? { next } : {}) });
export const unknown = (text: string, next?: string): Said => ({ mark: 'unknown', text, ...(next ? { next } : {}) });
