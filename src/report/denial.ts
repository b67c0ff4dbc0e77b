import type { Decision } from '../admission/decide.ts';
import type { Change, Finding } from '../admission/findings.ts';
import { shown } from '../admission/shown.ts';
import type { EffectivePolicy } from '../policy/policy.ts';

/** Of what a message speaks: `pod "infer"` in a namespace. */
export interface Subject {
  readonly kind: string;
  /** The name, or the generateName prefix; may be empty. */
  readonly name: string;
  readonly namespace: string;
}

/** kubectl drops control characters' whole warning, and cuts every warning to this when there are many (warning.go). */
const LONGEST_WARNING = 256;
const MOST_WARNINGS = 8;
/** More would only hide the first ones; nobody reads megabytes. */
export const MOST_PROBLEMS = 20;
/** Of a pod: a DNS subdomain. */
const LONGEST_NAME = 253;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** The one message of a denial: every problem of the pod, each with place, reason, fix and code. */
export function denialText(subject: Subject, policy: EffectivePolicy, denials: readonly Finding[]): string {
  const count = denials.length === 1 ? '1 problem' : `${denials.length} problems`;
  const name = subject.name === '' ? '' : ` "${shown(subject.name, LONGEST_NAME)}"`;
  const governed = policy.name ? `policy "${policy.name}", ` : '';
  const head = `gpugate: ${count} with the GPU request of ${subject.kind}${name} (${governed}namespace ${subject.namespace})`;
  const told = denials.slice(0, MOST_PROBLEMS).map((finding) => ` - ${findingText(finding)}`);
  const more = denials.length > MOST_PROBLEMS ? [` - and ${denials.length - MOST_PROBLEMS} more`] : [];
  return [head, ...told, ...more].join('\n');
}

/** `GPU002 spec.containers[0] "infer": nvidia.com/gpu is 0.5; ... Ask for 1.` */
export function findingText({ code, container, field, message, fix }: Finding): string {
  const place = container ? `${container.field} "${shown(container.name, LONGEST_NAME)}"` : field;
  // Names of resources and keys are the user's, and may hold line breaks that would fake another line.
  return oneLine(`${code} ${place}: ${message} ${fix}`);
}

/** The warnings of a decision, each of at most 256 characters without control characters, and few. */
export function warningLines(decision: Decision): readonly string[] {
  const announced = changesText(decision.announced);
  const lines = [
    ...changesLine(decision.changes),
    ...(announced === '' ? [] : [`gpugate would change: ${announced}`]),
    ...decision.warnings.map(findingText),
  ].map(warningLine);
  const unique = [...new Set(lines)];
  if (unique.length <= MOST_WARNINGS) return unique;
  return [...unique.slice(0, MOST_WARNINGS - 1), `gpugate: ${unique.length - MOST_WARNINGS + 1} more warnings`];
}

function changesLine(changes: readonly Change[]): readonly string[] {
  const text = changesText(changes);
  return text === '' ? [] : [text];
}

/** `GPU110 container "train": nvidia.com/gpu 1 -> nvidia.com/mig-1g.10gb 1`, changes of a kind told once a container. */
function changesText(changes: readonly Change[]): string {
  // Defaulting requests is what the API server does with every pod: nothing to tell.
  const told = new Map<string, Set<string>>();
  for (const change of changes) {
    if (change.type === 'set-annotation' || change.type === 'set-request') continue;
    const of =
      'container' in change ? `${change.code} container "${shown(change.container.name, LONGEST_NAME)}"` : change.code;
    told.set(of, (told.get(of) ?? new Set()).add(change.reason));
  }
  return [...told].map(([of, reasons]) => `${of}: ${[...reasons].join(', ')}`).join('; ');
}

/** Without line breaks and other control characters. */
export function oneLine(text: string): string {
  return text.replace(CONTROL, ' ');
}

/** One line of at most 256 runes, which Go counts as code points. */
export function warningLine(text: string): string {
  const line = oneLine(text);
  if (line.length <= LONGEST_WARNING) return line;
  const runes = [...line];
  return runes.length <= LONGEST_WARNING ? line : `${runes.slice(0, LONGEST_WARNING - 3).join('')}...`;
}
