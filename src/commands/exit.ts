/** Exit codes, the same for every verb and every output format. */
export const EXIT = {
  /** Something was found that the webhook would refuse, or that is not as it was expected. */
  denied: 1,
  /** A flag, a variable or an argument is wrong. */
  usage: 2,
  /** A file that was given can't be read or understood. */
  input: 3,
  /** Something outside failed: a port, a cluster; or gpugate itself. */
  failed: 4,
  /** What was waited for did not come in time. */
  timeout: 124,
} as const;

/** An error for the person at the command line: its lines are printed, and the process ends with its code. */
export type Failure = Error & { readonly exitCode: number };

/** Makes an error that ends the process with `exitCode` after printing `message`. */
export function failure(exitCode: number, message: string): Failure {
  return Object.assign(new Error(message), { exitCode });
}

/** Whether an error was meant for the person at the command line. */
export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number';
}
