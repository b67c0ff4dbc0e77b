import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** What a command printed, and its exit code. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. A failing one is a result, not an error; rejects only if it can't be started. */
export async function run(
  program: string,
  args: readonly string[],
  { input = '', env }: { readonly input?: string | undefined; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  const child = spawn(program, args, env === undefined ? {} : { env });
  child.stdin.on('error', () => {}); // EPIPE when it ends without reading; its exit code tells why.
  child.stdin.end(input);
  const closed = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
  const [code, stdout, stderr] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
