import { type CommandResult, run } from './run.ts';

/** Runs kubectl against one cluster. `input` is its standard input, for `-f -`. A failing command is a result, not an error. */
export type Kubectl = (args: readonly string[], options?: { input?: string }) => Promise<CommandResult>;

/** A kubectl bound to a kubeconfig, with its discovery cache in `cacheDir`, not in the user's home. */
export function kubectlFor(binary: string, kubeconfig: string, cacheDir: string): Kubectl {
  return (args, options = {}) =>
    run(binary, [`--kubeconfig=${kubeconfig}`, `--cache-dir=${cacheDir}`, ...args], { input: options.input });
}

/** The output of a kubectl command that must succeed; throws with what it printed otherwise. */
export async function mustKubectl(kubectl: Kubectl, args: readonly string[], input?: string): Promise<string> {
  const result = await kubectl(args, input === undefined ? {} : { input });
  if (result.code === 0) return result.stdout;
  throw new Error(`kubectl ${args.join(' ')}: exit ${result.code}\n${result.stderr}${result.stdout}`);
}
