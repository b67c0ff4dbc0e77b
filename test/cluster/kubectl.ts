import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** What a command printed, and its exit code. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl against one cluster. `input` is its standard input, for `-f -`. A failing command is a result, not an error. */
export type Kubectl = (args: readonly string[], options?: { input?: string }) => Promise<CommandResult>;

/** A kubectl bound to a kubeconfig, with its discovery cache in `cacheDir`, not in the user's home. */
export function kubectlFor(binary: string, kubeconfig: string, cacheDir: string): Kubectl {
  return async (args, options = {}) => {
    const child = spawn(binary, [`--kubeconfig=${kubeconfig}`, `--cache-dir=${cacheDir}`, ...args]);
    child.stdin.on('error', () => {}); // EPIPE when kubectl ends without reading; its exit code tells why.
    child.stdin.end(options.input ?? '');
    const closed = new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? -1));
    });
    const [code, stdout, stderr] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
    return { code, stdout, stderr };
  };
}

/** The output of a kubectl command that must succeed; throws with what it printed otherwise. */
export async function mustKubectl(kubectl: Kubectl, args: readonly string[], input?: string): Promise<string> {
  const result = await kubectl(args, input === undefined ? {} : { input });
  if (result.code === 0) return result.stdout;
  throw new Error(`kubectl ${args.join(' ')}: exit ${result.code}\n${result.stderr}${result.stdout}`);
}
