import { CHECKS, type Diagnosis } from '../doctor/result.ts';
import { oneLine } from './denial.ts';
import { bold, dim, mark, type Style } from './marks.ts';

const WIDTH = Math.max(...CHECKS.map((name) => name.length)) + 2;
const INDENT = ' '.repeat(WIDTH + 2);

/** A diagnosis as people read it: a line for each thing that was looked at, the cause and the next command where it is not well. */
export function diagnosisText({ well, checks }: Diagnosis, style: Style): string {
  const lines = checks.flatMap(({ name, said }) =>
    said.flatMap(({ mark: how, text, next }, index) => [
      `${mark(how, style)} ${(index === 0 ? name : '').padEnd(WIDTH)}${oneLine(text)}`,
      ...(next === undefined || how === 'ok' ? [] : [`${INDENT}${dim(`next: ${next}`, style)}`]),
    ]),
  );
  const count = (wanted: string) => checks.flatMap(({ said }) => said).filter(({ mark: how }) => how === wanted).length;
  const problems = count('problem');
  const asides = [
    ...(count('warning') > 0 ? [`${count('warning')} to look at`] : []),
    ...(count('unknown') > 0 ? [`${count('unknown')} not seen`] : []),
  ];
  const verdict = well
    ? 'gpugate is well'
    : `gpugate is not well: ${problems} ${problems === 1 ? 'problem' : 'problems'}`;
  return `${lines.join('\n')}\n\n${bold([verdict, ...asides].join(', '), style)}.\n`;
}
