import type { Command } from 'commander';
import type { FastifyInstance } from 'fastify';
import { keepStatus } from '../cluster/policy-status.ts';
import type { ClusterSource } from '../cluster/source.ts';
import { EXCLUDED_NAMESPACES } from '../registration/entries.ts';
import { createApp } from '../server/app.ts';
import { createJudge } from '../server/judge.ts';
import { createLifecycle } from '../server/lifecycle.ts';
import { close, listen } from '../server/listen.ts';
import { createLog, type Log } from '../server/log.ts';
import { followLevel } from '../server/log-level.ts';
import { createMetrics } from '../server/metrics.ts';
import { createOperations } from '../server/operations.ts';
import { reportPolicies } from '../server/policy-report.ts';
import { handleCrashes, handleSignals } from '../server/shutdown.ts';
import { openCertificates } from './certificate.ts';
import { followClients, startingClients } from './clients.ts';
import { type Configuration, readConfiguration } from './configuration.ts';
import { EXIT, failure } from './exit.ts';
import { addFlags, FLAGS } from './flags.ts';
import { openPolicies, openSource } from './sources.ts';
import { openTemplateKinds } from './templates.ts';
import { VERSION } from './version.ts';
import { welcome } from './welcome.ts';

/** `gpugate serve` */
export function configure(command: Command): void {
  addFlags(command)
    .description(
      'Answers admission reviews over HTTPS. Namespaces, nodes and policies come from a cluster or from files. docs/flags.md tells more of each flag.',
    )
    .option('--welcome', 'say how to try it, once it listens (the default beside --namespaces)')
    .option('--no-welcome', 'say nothing')
    .addHelpText(
      'after',
      `
Examples:
  gpugate serve --policies policies --namespaces namespaces.yaml --nodes nodes.yaml    try it without a cluster
  gpugate serve --kubeconfig ~/.kube/config                                            beside a cluster`,
    )
    .action(async () => {
      const read = readConfiguration(command.opts(), (flag) => command.getOptionValueSource(flag));
      if (!read.ok) throw failure(EXIT.usage, read.mistakes.join('\n'));
      await serve(read.configuration);
    });
}

async function serve(configuration: Configuration): Promise<void> {
  const log = createLog(configuration.logLevel);
  const { logger } = log;
  const { logLevelFile, clientCa } = configuration;
  const unfollowLevel = logLevelFile === undefined ? undefined : followLevel(logLevelFile, logger);
  const exit = exitAfter(log);
  const lifecycle = createLifecycle();
  handleCrashes({ lifecycle, logger, exit });
  const closesWith = handleSignals({ lifecycle, logger, exit, delayMs: configuration.shutdownDelay });
  const watching: Pick<ClusterSource, 'watches'>[] = [];
  const metrics = createMetrics(VERSION, () => watching.flatMap((each) => each.watches()));

  const certificates = await openCertificates(configuration, logger, metrics);
  const clients = await startingClients(configuration);
  const templateKinds = await openTemplateKinds(configuration.templates);
  const cluster = await openSource(configuration, logger);
  const policies = await openPolicies(configuration, cluster, logger, metrics);
  watching.push(cluster, certificates);
  const report = reportPolicies({
    policies,
    cluster,
    logger,
    registry: metrics.registry,
    excludedNamespaces: EXCLUDED_NAMESPACES,
  });
  const { census } = report;
  const status = cluster.policies && keepStatus({ policies: cluster.policies, census, log: logger });
  const synced = { name: 'cluster', problem: () => (cluster.synced() ? undefined : notSynced(cluster)) };
  const judge = createJudge({
    policies,
    cluster,
    census,
    gpuResources: configuration.gpuResources ?? [],
    templateKinds,
  });
  const app = await createApp({
    judge,
    pair: certificates.pair,
    now: certificates.now,
    metrics,
    logger,
    lifecycle,
    checks: [synced, ...certificates.checks],
    ...(clients ? { clients } : {}),
  });
  const operations = createOperations(metrics, app.checks);

  const port = await listenOn('port', app.fastify, configuration);
  const metricsPort = await listenOn('metricsPort', operations, configuration);
  certificates.follow(app);
  const unfollowClients = followClients(clientCa, clients, app, metrics, logger);
  closesWith(async (hurry) => {
    await certificates.close();
    unfollowClients();
    unfollowLevel?.();
    await close(app.fastify, hurry);
    report.close();
    await status?.close();
    await Promise.all([close(operations, hurry), policies.close(), cluster.close()]);
  });

  logger.info({ version: VERSION, host: configuration.host, port, metricsPort }, 'listening');
  if (configuration.welcome ?? configuration.namespaces !== undefined) {
    process.stderr.write(welcome({ ...configuration, port, metricsPort }));
  }
}

async function listenOn(
  flag: 'port' | 'metricsPort',
  app: FastifyInstance,
  configuration: Configuration,
): Promise<number> {
  const { host, [flag]: port } = configuration;
  try {
    return await listen(app, host, port);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why: Record<string, string> = {
      EADDRINUSE: `port ${port} of ${host} is taken; end what listens there, or give another port`,
      EACCES: `port ${port} may not be opened; give one above 1023`,
      EADDRNOTAVAIL: `${host} is no address of this machine; give another --host`,
      ENOTFOUND: `${host} is no address of this machine; give another --host`,
    };
    const { long, variable } = FLAGS[flag] ?? {};
    throw failure(EXIT.failed, `${long} (${variable}): ${why[code ?? ''] ?? message}`);
  }
}

function notSynced(cluster: ClusterSource): string {
  const waiting = cluster.watches().filter(({ synced }) => !synced);
  return `waiting for the first list of ${waiting.map(({ resource }) => resource).join(' and ')}`;
}

/** What is still to be logged goes out first, unless nobody reads it. */
function exitAfter(log: Log): (code: number) => void {
  return (code) => {
    setTimeout(() => process.exit(code), 1000);
    log.flush().then(() => process.exit(code));
  };
}
