import { styleText } from 'node:util';
import type { Audit, AuditedFinding, AuditedObject } from '../audit/result.ts';
import { oneLine } from './denial.ts';
import { nameOf } from './result.ts';
import { table } from './table.ts';
import { noticeText } from './text.ts';

/** An audit for people: what owns the pods, what is said of them, then the codes in numbers. */
export function auditText(audit: Audit, colour: boolean): string {
  const { objects, notices, codes } = audit;
  const rows = codes.map(({ code, title, errors, warnings, pods }) => [
    code,
    `${errors}`,
    `${warnings}`,
    `${pods}`,
    title,
  ]);
  const counts = rows.length === 0 ? '' : `\n${table([['CODE', 'REFUSED', 'WARNED', 'PODS', ''], ...rows])}`;
  return [
    ...objects.map((object) => objectText(object, colour)),
    ...notices.map((notice) => noticeText(notice, colour)),
    counts,
    `\n${verdict(audit)}\n`,
  ]
    .join('')
    .replace(/^\n+/, '');
}

function objectText(object: AuditedObject, colour: boolean): string {
  const { policy, pods } = object;
  const about = [
    ...(policy === undefined ? [] : [`policy "${policy}"`]),
    ...(pods > 0 && object.kind !== 'Pod' ? [podCount(pods)] : []),
  ];
  const head = `${nameOf(object)}${about.length > 0 ? ` (${about.join(', ')})` : ''}`;
  const lines = object.findings.flatMap((finding) => findingLines(finding, object.kind, colour));
  return `${paint('bold', oneLine(head), colour)}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function findingLines(finding: AuditedFinding, kind: string, colour: boolean): readonly string[] {
  const { code, level, container, message, fix, pods, examples } = finding;
  const where = container === undefined ? '' : `container "${container}": `;
  const level2 = paint(level === 'error' ? 'red' : 'yellow', level === 'error' ? 'refused' : 'warned', colour);
  const more = pods > examples.length ? ` and ${pods - examples.length} more` : '';
  const which = pods === 0 || kind === 'Pod' ? [] : [paint('dim', `    in ${examples.join(', ')}${more}`, colour)];
  return [`${level2} ${code} ${oneLine(where + message)}`, `    ${oneLine(fix)}`, ...which];
}

function podCount(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}

/** `10000 pods and 30 workloads in 12 namespaces judged: 3 would be refused today, 2 have warnings.` */
export function verdict({ judged, objects, namespace }: Audit): string {
  const { pods, workloads, namespaces } = judged;
  if (namespace !== undefined && namespaces === 0) return `nothing in namespace ${namespace} was judged.`;
  const where =
    namespace === undefined
      ? `${namespaces} ${namespaces === 1 ? 'namespace' : 'namespaces'}`
      : `namespace ${namespace}`;
  const what = `${podCount(pods)} and ${workloads} ${workloads === 1 ? 'workload' : 'workloads'} in ${where} judged`;
  const refused = objects.filter(({ findings }) => findings.some(({ level }) => level === 'error')).length;
  const warned = objects.length - refused;
  if (objects.length === 0 && pods + workloads === 0) return `${what}.`;
  if (objects.length === 0) return `${what}: all of it is as the policies want it.`;
  const parts = [
    ...(refused > 0 ? [`${refused} would be refused today`] : []),
    ...(warned > 0 ? [`${warned} ${warned === 1 ? 'has' : 'have'} warnings`] : []),
  ];
  return `${what}: ${parts.join(', ')}.`;
}

function paint(style: 'bold' | 'dim' | 'red' | 'yellow', text: string, colour: boolean): string {
  return colour ? styleText(style, text, { validateStream: false }) : text;
}
