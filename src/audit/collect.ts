import { CODES, type Code } from '../admission/findings.ts';
import type { EffectivePolicy } from '../policy/policy.ts';
import { isRestart, type Judgement, type Owner, restartText } from './judge.ts';
import type { AuditedFinding, AuditedObject, CodeCount } from './result.ts';

/** Names of pods that are kept of each finding, so that what is kept does not grow with the cluster. */
const MOST_EXAMPLES = 5;

interface Kept {
  readonly judgement: Judgement;
  inTemplate: boolean;
  pods: number;
  readonly examples: string[];
}

interface Group {
  readonly owner: Omit<Owner, 'uid'> & { readonly uid?: string };
  readonly namespace: string | undefined;
  readonly policy: EffectivePolicy | undefined;
  readonly findings: Map<string, Kept>;
  pods: number;
}

/**
 * Puts together what is said of single objects under what owns them: a Deployment with a thousand pods of one mistake is one
 * entry. What is kept grows with the owners that something is said of, not with the pods.
 */
export function createCollection() {
  const groups = new Map<string, Group>();

  function groupOf(owner: Group['owner'], namespace: string | undefined, policy: EffectivePolicy | undefined): Group {
    const key = JSON.stringify([owner.apiVersion.split('/')[0], owner.kind, namespace, owner.name]);
    const group = groups.get(key) ?? { owner, namespace, policy, findings: new Map(), pods: 0 };
    groups.set(key, group);
    return group;
  }

  function add(group: Group, judgements: readonly Judgement[], pod: string | undefined): void {
    for (const judgement of judgements) {
      const { code, container, message, level } = judgement;
      const key = JSON.stringify([code, container, message, level]);
      const kept = group.findings.get(key) ?? { judgement, inTemplate: false, pods: 0, examples: [] };
      group.findings.set(key, kept);
      if (pod === undefined) kept.inTemplate = true;
      else {
        kept.pods += 1;
        if (kept.examples.length < MOST_EXAMPLES) kept.examples.push(pod);
      }
    }
  }

  return {
    /** What is said of a pod goes to what owns it. */
    pod(
      name: string,
      owner: Owner | undefined,
      namespace: string,
      policy: EffectivePolicy,
      judgements: readonly Judgement[],
    ): void {
      if (judgements.length === 0) return;
      const group = groupOf(owner ?? { apiVersion: 'v1', kind: 'Pod', name }, namespace, policy);
      group.pods += 1;
      add(group, judgements, name);
    },
    /** What is said of any other object goes to itself. */
    object(
      object: Group['owner'],
      namespace: string | undefined,
      policy: EffectivePolicy | undefined,
      judgements: readonly Judgement[],
    ): void {
      if (judgements.length > 0) add(groupOf(object, namespace, policy), judgements, undefined);
    },
    /** Errors before warnings, then by namespace and name. */
    objects: (): readonly AuditedObject[] =>
      Array.from(groups.values(), audited).sort(
        (a, b) =>
          Number(hasError(b)) - Number(hasError(a)) ||
          (a.namespace ?? '').localeCompare(b.namespace ?? '') ||
          a.kind.localeCompare(b.kind) ||
          a.name.localeCompare(b.name),
      ),
  };
}

function hasError({ findings }: AuditedObject): boolean {
  return findings.some(({ level }) => level === 'error');
}

function audited({ owner, namespace, policy, findings, pods }: Group): AuditedObject {
  const { apiVersion, kind, name, uid } = owner;
  const kept = [...findings.values()];
  const own = kind === 'Namespace' || kind === 'GpuPolicy' || kind === 'Pod';
  const refused = kept.some(({ judgement }) => judgement.level === 'error');
  return {
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(uid === undefined ? {} : { uid }),
    ...(policy?.name === undefined ? {} : { policy: policy.name }),
    mode: policy?.governed ? policy.mode : 'none',
    outcome: !refused ? 'clean' : own ? 'denied' : 'pods-denied',
    findings: kept.map((each) => finding(each, kind, name, namespace)),
    changes: [],
    warnings: [],
    pods,
  };
}

function finding(
  { judgement, pods, examples }: Kept,
  kind: string,
  name: string,
  namespace: string | undefined,
): AuditedFinding {
  const fix = isRestart(judgement) ? restartText(kind, name, namespace) : judgement.fix;
  return { ...judgement, fix, pods, examples };
}

/** How many objects have each code, in the order of the codes. */
export function countCodes(objects: readonly AuditedObject[]): readonly CodeCount[] {
  const counts = new Map<Code, { errors: number; warnings: number; pods: number }>();
  for (const { findings } of objects) {
    for (const [code, of] of Map.groupBy(findings, (each) => each.code)) {
      const count = counts.get(code) ?? { errors: 0, warnings: 0, pods: 0 };
      if (of.some(({ level }) => level === 'error')) count.errors += 1;
      else count.warnings += 1;
      count.pods += Math.max(...of.map(({ pods }) => pods));
      counts.set(code, count);
    }
  }
  return [...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([code, count]) => ({ code, title: CODES[code], ...count }));
}
