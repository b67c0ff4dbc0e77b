import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessCluster } from '../../cluster/process-kubelet/cluster.ts';

/** Copies the logs of all programs to where they outlive the cluster, and says where. */
export async function keepLogs({ plane }: ProcessCluster): Promise<void> {
  const kept = mkdtempSync(join(tmpdir(), 'gpugate-chaos-'));
  const find = ['.', '-name', 'root', '-prune', '-o', '-name', '*.log', '-exec', 'cp', '--parents', '{}', kept, ';'];
  execFileSync('find', find, { cwd: plane.dir });
  console.log(`logs are kept in ${kept}`);
}
