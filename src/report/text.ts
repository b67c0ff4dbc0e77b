import { styleText } from 'node:util';
import { oneLine } from './denial.ts';
import { findingLine, noticeLine, outcomeLine, placeText } from './lines.ts';
import { type Notice, type Report, type ReportedObject, type Summary, summaryOf } from './result.ts';

type Colour = 'red' | 'yellow' | 'cyan' | 'green' | 'bold' | 'dim';
const LEVELS = { error: 'red', warning: 'yellow', note: 'cyan' } as const;

/** A report for people. */
export function asText(report: Report, colour = false): string {
  return [
    ...report.objects.map((object) => objectText(object, colour)),
    ...report.notices.map((notice) => noticeText(notice, colour)),
    summaryText(summaryOf(report), colour),
  ].join('');
}

/** One object: what becomes of it, then a line for each finding and each change, then the diff. Nothing of one that is clean and without findings. */
export function objectText(object: ReportedObject, colour: boolean): string {
  const { outcome, findings, changes, diff, place } = object;
  if (outcome === 'clean' && findings.length === 0) return '';
  const paint = painter(colour);
  const lines: string[] = [];
  const at = (where: ReportedObject['place']) => (where ? `${placeText(where)}: ` : '');
  if (outcome !== 'clean') {
    const bad = outcome === 'denied' || outcome === 'pods-denied';
    lines.push(`${paint('bold', at(place))}${paint(bad ? 'red' : 'cyan', outcomeLine(object))}`);
  }
  for (const finding of findings) {
    const { code, level, fix } = finding;
    const head = `${paint('bold', at(finding.place ?? place))}${paint(LEVELS[level], level)} ${code}`;
    lines.push(`${head} ${findingLine(object, { ...finding, fix: '' })}`);
    if (fix !== '') lines.push(`    ${paint('green', oneLine(fix))}`);
  }
  for (const { code, container, reason } of changes) {
    lines.push(oneLine(`    ${code}${container === undefined ? '' : ` container "${container}"`}: ${reason}`));
  }
  return `${lines.join('\n')}\n${diff === undefined ? '' : diffText(diff, colour)}`;
}

/** A unified diff as terminals show it. */
export function diffText(diff: string, colour: boolean): string {
  if (!colour) return diff;
  const paint = painter(colour);
  return diff
    .split('\n')
    .map((line) => {
      if (/^(---|\+\+\+) /.test(line)) return paint('bold', line);
      if (line.startsWith('+')) return paint('green', line);
      if (line.startsWith('-')) return paint('red', line);
      return line.startsWith('@@') ? paint('cyan', line) : line;
    })
    .join('\n');
}

export function noticeText(notice: Notice, colour: boolean): string {
  return `${painter(colour)('cyan', 'notice')} ${noticeLine(notice)}\n`;
}

/** `3 objects: 1 would be denied, 2 clean; 1 error` */
export function summaryText({ objects, outcomes, findings, unreadable }: Summary, colour: boolean): string {
  const paint = painter(colour);
  const count = (number: number, one: string, many: string, how?: Colour) => {
    if (number === 0) return [];
    const text = `${number} ${number === 1 ? one : many}`;
    return [how ? paint(how, text) : text];
  };
  const came = [
    ...count(outcomes.denied, 'would be denied', 'would be denied', 'red'),
    ...count(outcomes['pods-denied'], 'has pods that would be denied', 'have pods that would be denied', 'red'),
    ...count(outcomes.changed, 'would be changed', 'would be changed', 'cyan'),
    ...count(
      outcomes.announced,
      'would be changed, which is only announced',
      'would be changed, which is only announced',
      'cyan',
    ),
    ...count(outcomes.clean, 'clean', 'clean', 'green'),
  ];
  const found = [
    ...count(findings.error, 'error', 'errors', 'red'),
    ...count(findings.warning, 'warning', 'warnings', 'yellow'),
    ...count(findings.note, 'note', 'notes', 'cyan'),
  ];
  const unread = count(unreadable, 'place could not be read', 'places could not be read', 'red');
  const total = `${objects} object${objects === 1 ? '' : 's'}${came.length > 0 ? ': ' : ''}${came.join(', ')}`;
  return `${[total, found.join(', '), ...unread].filter((part) => part !== '').join('; ')}\n`;
}

function painter(colour: boolean): (how: Colour, text: string) => string {
  return (how, text) => (colour && text !== '' ? styleText(how, text, { validateStream: false }) : text);
}
