import type { Connection } from './connection.ts';
import type { ServerProcess } from './server.ts';
import { percentile } from './statistics.ts';

/** One measurement of one server. */
export interface Measurement {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUsPerRequest: number;
  readonly rssMiB: number;
  readonly requests: number;
}

/** Keeps every connection busy for that long. */
export async function measure(
  server: ServerProcess,
  connections: readonly Connection[],
  seconds: number,
): Promise<Measurement> {
  const cpu = server.cpu();
  const started = performance.now();
  const end = started + seconds * 1000;
  const latencies: number[] = [];
  const keepBusy = async (connection: Connection) => {
    for (let sent = performance.now(); sent < end; ) {
      await connection.send();
      const now = performance.now();
      latencies.push(now - sent);
      sent = now;
    }
  };
  await Promise.all(connections.map(keepBusy));
  const elapsed = (performance.now() - started) / 1000;
  const requests = latencies.length;
  latencies.sort((a, b) => a - b);
  return {
    requestsPerSecond: requests / elapsed,
    p50Ms: percentile(latencies, 50),
    p99Ms: percentile(latencies, 99),
    cpuUsPerRequest: (server.cpu() - cpu) / requests,
    rssMiB: server.rss(),
    requests,
  };
}
