import type { Finding } from '../admission/findings.ts';
import { asObject, fieldPath } from '../admission/pod.ts';
import type { AdmissionRequest } from '../admission/review.ts';
import type { Census } from '../policy/census.ts';
import type { PolicyProblem } from '../policy/policy.ts';
import { DEFAULT_POLICY, type PolicySet, resolvePolicy } from '../policy/resolve.ts';
import { type FieldProblem, readPolicy } from '../policy/stored.ts';
import { oneLine, warningLine } from '../report/denial.ts';
import { type Judgement, UNTOUCHED } from './judgement.ts';

/** What settings are judged beside. */
export interface Settings {
  readonly policies: { current(): PolicySet; readonly fromFiles?: boolean | undefined };
  /** Which namespaces a policy serves, where that is known. */
  readonly census?: (() => Census | undefined) | undefined;
}

/** Judges what says how pods are judged, when it is written: labels of Namespaces, and GpuPolicies. Undefined for any other object. */
export function judgeSettings(request: AdmissionRequest, settings: Settings): Judgement | undefined {
  const { kind, operation } = request;
  const written = operation === 'CREATE' || operation === 'UPDATE';
  if (kind.group === '' && kind.kind === 'Namespace') {
    return written ? judgeNamespace(request.object, settings.policies.current()) : UNTOUCHED;
  }
  if (kind.group !== 'gpugate.dev' || kind.kind !== 'GpuPolicy') return undefined;
  if (written) return judgePolicy(request, settings);
  return operation === 'DELETE' ? judgeDeletion(request.name ?? '', settings) : UNTOUCHED;
}

/** Labels are looked at together with the policy that they name. A mistake is a warning at `kubectl label`, never a refusal. */
function judgeNamespace(object: unknown, policies: PolicySet): Judgement {
  const labels = asObject(asObject(asObject(object)?.metadata)?.labels) ?? {};
  const { problems, warnings } = resolvePolicy(labels as Readonly<Record<string, string>>, policies);
  return warned([...problems, ...warnings].map(labelFinding));
}

function labelFinding({ code, where, value, message, fix }: PolicyProblem): Finding {
  const label = /^namespace label (\S+)$/.exec(where)?.[1];
  return {
    code,
    severity: 'warning',
    field: fieldPath(['metadata', 'labels', ...(label === undefined ? [] : [label])]),
    message: `${where}${value === undefined ? '' : ` is "${value}", which`} ${message}.`,
    fix,
  };
}

/** A policy that would not be understood is refused with all of its mistakes. */
function judgePolicy({ name, object }: AdmissionRequest, { policies }: Settings): Judgement {
  const read = readPolicy(object);
  if (!read.ok) return refused(name ?? '', read.problems);
  if (!policies.fromFiles) return UNTOUCHED;
  const text = 'gpugate reads its policies from files (--policies), so this GpuPolicy is not used';
  return { ...UNTOUCHED, answer: { ...UNTOUCHED.answer, warnings: [text] } };
}

function refused(name: string, problems: readonly FieldProblem[]): Judgement {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  const lines = problems.map(
    ({ code, field, message, fix }) => ` - ${oneLine(`${code} ${field} ${sentences(message, fix)}`)}`,
  );
  const message = [`gpugate: ${count} with GpuPolicy "${oneLine(name)}"`, ...lines].join('\n');
  const causes = problems.map(({ code, field, message, fix }) => ({
    reason: code,
    field,
    message: sentences(message, fix),
  }));
  return {
    ...UNTOUCHED,
    answer: { ...UNTOUCHED.answer, allowed: false, code: 403, reason: 'Forbidden', message, causes },
    findings: problems.map(({ code, field, message, fix }) => ({
      code,
      severity: 'error',
      field,
      message: `${field} ${message}.`,
      fix: fix || `${message.startsWith('is missing') ? 'Add' : 'Correct'} ${field}.`,
    })),
  };
}

function sentences(message: string, fix: string): string {
  return fix === '' ? message : `${message}. ${fix}`;
}

const MOST_NAMES = 5;

/** A deletion is only warned of: what a policy is for may have gone as well. */
function judgeDeletion(name: string, { census }: Settings): Judgement {
  const served = census?.()?.served.get(name) ?? [];
  if (served.length === 0) return UNTOUCHED;
  const names = served.length > MOST_NAMES ? [...served.slice(0, MOST_NAMES), '...'] : served;
  const count = `${served.length} namespace${served.length === 1 ? '' : 's'} (${names.join(', ')})`;
  const then =
    name === DEFAULT_POLICY
      ? 'those without a label gpugate.dev/policy have no policy from now on'
      : 'their GPU pods are refused until they name another policy';
  const message = `GpuPolicy "${name}" serves ${count}: ${then}.`;
  return warned([{ code: 'GPU101', severity: 'warning', field: 'metadata.name', message, fix: '' }]);
}

function warned(findings: readonly Finding[]): Judgement {
  const text = ({ code, message, fix }: Finding) => warningLine(`${code} ${message} ${fix}`.trimEnd());
  return { ...UNTOUCHED, answer: { ...UNTOUCHED.answer, warnings: findings.map(text) }, findings };
}
