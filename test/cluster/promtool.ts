import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GoTools, goTools, type Log, versionIn } from './go-tools.ts';
import { type CommandResult, run } from './run.ts';

const TOOLS: GoTools = {
  what: 'promtool',
  module: fileURLToPath(new URL('../e2e/promtool/', import.meta.url)),
  cache: 'promtool',
  names: ['promtool'],
  // Without this most of the build would be clients of clouds.
  tags: 'remove_all_sd',
  stamps: (goMod) => [
    `github.com/prometheus/common/version.Version=${versionIn(goMod, 'github.com/prometheus/prometheus')}`,
  ],
  takes: "several minutes on two cores the first time, seconds when Go's build cache is warm",
};

/** Runs Prometheus' own promtool, built once from the Go module in `test/e2e/promtool`. A failing command is a result, not an error. */
export async function promtool(args: readonly string[], log: Log = () => {}): Promise<CommandResult> {
  return run(join(await goTools(TOOLS, log), 'promtool'), args);
}
