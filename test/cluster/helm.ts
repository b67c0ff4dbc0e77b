import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GoTools, goTools, type Log, versionIn } from './go-tools.ts';
import { type CommandResult, run } from './run.ts';

/** The chart of the repository. */
export const CHART = fileURLToPath(new URL('../../deploy/chart/gpugate', import.meta.url));

const TOOLS: GoTools = {
  what: 'Helm',
  module: fileURLToPath(new URL('../e2e/helm/', import.meta.url)),
  cache: 'helm',
  names: ['helm'],
  stamps: (goMod) => [`helm.sh/helm/v4/internal/version.version=${versionIn(goMod, 'helm.sh/helm/v4')}`],
  takes: "several minutes on two cores the first time, seconds when Go's build cache is warm",
};

/** Runs the real Helm. A failing command is a result, not an error. */
export type Helm = (args: readonly string[], options?: { input?: string }) => Promise<CommandResult>;

/**
 * The real Helm, built once from the Go module in `test/e2e/helm` and kept in the user's cache. Its own files go to
 * `dir`, not into the user's home; `kubeconfig` is needed by what speaks with a cluster.
 */
export async function helmFor(dir: string, kubeconfig?: string, log: Log = () => {}): Promise<Helm> {
  const binary = join(await goTools(TOOLS, log), 'helm');
  const home = (name: string) => join(dir, 'helm', name);
  const env = {
    ...process.env,
    HELM_CACHE_HOME: home('cache'),
    HELM_CONFIG_HOME: home('config'),
    HELM_DATA_HOME: home('data'),
    KUBECONFIG: kubeconfig ?? '/dev/null',
  };
  return (args, options = {}) => run(binary, args, { env, input: options.input });
}

/** The output of a Helm command that must succeed; throws with what it printed otherwise. */
export async function mustHelm(helm: Helm, args: readonly string[]): Promise<string> {
  const result = await helm(args);
  if (result.code === 0) return result.stdout;
  throw new Error(`helm ${args.join(' ')}: exit ${result.code}\n${result.stderr}${result.stdout}`);
}
