import { type Context, finalResource, type Rule } from '../context.ts';
import type { Finding, Tell } from '../findings.ts';
import { asObject, fieldPath } from '../pod.ts';

const QUEUE = 'kueue.x-k8s.io/queue-name';

/**
 * GPU161: what limits the namespace speaks of the name before a rewrite. A ResourceQuota counts only the exact name under
 * `requests.`, after webhooks, so a quota on `requests.nvidia.com/gpu` no longer holds anyone back; Kueue admits by the template
 * and never sees the new name.
 */
export const limitsByAnotherName: Rule = {
  needs: 'policy',
  check(context, tell) {
    const { snapshot, policy } = context;
    const queue = policy.templates === 'mutate' ? undefined : queueOf(context);
    if (queue === undefined && !snapshot.limits?.length) return;
    for (const [from, to] of renamed(context)) {
      quotas(context, from, to, tell);
      if (queue === undefined) continue;
      tell(
        found(
          context,
          `the queue ${queue} of Kueue counts ${from} by the template, and the pods take ${to}.`,
          'Set templates: mutate in the policy, or map the resource in the configuration of Kueue.',
        ),
      );
    }
  },
};

function renamed(context: Context): ReadonlyMap<string, string> {
  const asks = context.containers.flatMap((container) => container.gpus);
  const pairs = asks.map((ask) => [ask.resource.name, finalResource(context, ask)] as const);
  return new Map(pairs.filter(([from, to]) => from !== to));
}

function quotas(context: Context, from: string, to: string, tell: Tell): void {
  const limits = context.snapshot.limits ?? [];
  const quota = limits.filter(({ kind }) => kind === 'ResourceQuota');
  const old = quota.find(({ resources }) => resources.includes(`requests.${from}`));
  if (old && !quota.some(({ resources }) => resources.includes(`requests.${to}`))) {
    const message = `ResourceQuota ${old.name} limits requests.${from}, and nothing limits requests.${to}, which the pod takes.`;
    tell(found(context, message, `Add requests.${to} to the quota.`));
  }
  for (const { name, resources } of quota) {
    const dead = resources.find((resource) => resource === to || resource === `limits.${to}`);
    if (dead === undefined) continue;
    tell(
      found(context, `ResourceQuota ${name} names ${dead}, which Kubernetes never counts.`, `Write requests.${to}.`),
    );
  }
  const range = limits.find(
    ({ kind, resources }) => kind === 'LimitRange' && resources.includes(from) && !resources.includes(to),
  );
  if (range) {
    const message = `LimitRange ${range.name} speaks of ${from}, and the pod takes ${to}; a max or min of the old name makes the API server refuse the pod.`;
    tell(found(context, message, `Write ${to} there.`));
  }
}

function queueOf({ request }: Context): string | undefined {
  const labels = asObject(asObject(asObject(request.object)?.metadata)?.labels);
  const queue = labels?.[QUEUE] ?? asObject(asObject(asObject(request.pod)?.metadata)?.labels)?.[QUEUE];
  return typeof queue === 'string' ? queue : undefined;
}

function found({ pod }: Context, message: string, fix: string): Finding {
  return { code: 'GPU161', severity: 'warning', field: fieldPath([...pod.path, 'spec']), message, fix };
}
