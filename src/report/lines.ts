import { oneLine } from './denial.ts';
import { type Notice, nameOf, type ReportedFinding, type ReportedObject } from './result.ts';

/** `Pod team-a/infer, container "infer": nvidia.com/gpu is 0.5; ... Ask for 1.` */
export function findingLine(object: ReportedObject, { container, message, fix }: ReportedFinding): string {
  const where = container === undefined ? '' : `, container "${container}"`;
  return oneLine(`${nameOf(object)}${where}: ${message} ${fix}`.trimEnd());
}

/** `deploy/pods.yaml:3:5`; the parts that are known. */
export function placeText({ file, line, column }: Pick<Notice, 'file' | 'line' | 'column'>): string {
  return [file, line, column].filter((part) => part !== undefined).join(':');
}

/** With its place before it, where it has one. */
export function noticeLine(notice: Notice): string {
  const place = placeText(notice);
  return oneLine(place === '' ? notice.message : `${place}: ${notice.message}`);
}

const OUTCOMES = {
  clean: 'is fine as it is',
  changed: 'would be changed',
  announced: 'would be admitted as it is; what the policy changes is only announced',
  'pods-denied': 'would be admitted, and its pods denied',
  denied: 'would be denied',
} as const;

/** `Pod team-a/infer would be denied (policy "notebooks")` */
export function outcomeLine(object: ReportedObject): string {
  const { outcome, policy, kind } = object;
  const text =
    outcome === 'announced' && kind !== 'Pod' ? 'would be admitted, and its pods changed' : OUTCOMES[outcome];
  return oneLine(`${nameOf(object)} ${text}${policy === undefined ? '' : ` (policy "${policy}")`}`);
}
