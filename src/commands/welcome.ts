import { join } from 'node:path';
import { CA_FILE } from '../certificates/pair.ts';

/** Where a server can be tried. */
export interface Served {
  readonly host: string;
  readonly port: number;
  readonly metricsPort: number;
  readonly certDir: string;
}

// From the review that comes back, what kubectl would show.
const SHOW = `node -p 'JSON.parse(require("fs").readFileSync(0)).response.status.message'`;

/** What a person who started gpugate by hand is told: where it is, and a command whose output is a refusal. */
export function welcome({ host, port, metricsPort, certDir }: Served): string {
  const base = authority(host);
  return [
    `gpugate answers on https://${base}:${port}, metrics and health on http://${base}:${metricsPort}.`,
    'Try it from another terminal, in the same folder (Ctrl-C ends it):',
    '',
    `  curl -s --cacert ${join(certDir, CA_FILE)} -H 'content-type: application/json' \\`,
    `    --data-binary @deploy/demo/half-a-gpu.json https://${base}:${port}/mutate | ${SHOW}`,
    '',
  ].join('\n');
}

function authority(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
