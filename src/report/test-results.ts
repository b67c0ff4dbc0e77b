import { styleText } from 'node:util';
import type { Result } from '../scenarios/run.ts';
import { junitXml } from './junit.ts';

/** How scenarios ended, in the forms that `gpugate test` prints. Each ends with a newline. */
export const TEST_FORMATS = { table: asTable, junit: asJunit, json: asJson } as const;

const WORDS = { passed: 'PASS', failed: 'FAIL', unreadable: 'ERROR' } as const;
const COLOURS = { passed: 'green', failed: 'red', unreadable: 'red' } as const;

function asTable(results: readonly Result[], coloured: boolean): string {
  const width = Math.max(...results.map(({ folder }) => folder.length));
  const lines = results.flatMap((result) => {
    const { folder, state, problems } = result;
    const plain = WORDS[state].padEnd(5);
    const word = coloured ? styleText(COLOURS[state], plain, { validateStream: false }) : plain;
    const about = state === 'unreadable' ? '' : result.expected.description;
    return [`${word}  ${folder.padEnd(width)}  ${about}`.trimEnd(), ...problems.map((line) => `       ${line}`)];
  });
  const counted = Object.entries(countsOf(results)).filter(([state, count]) => count > 0 || state === 'passed');
  const total = `${results.length} scenario${results.length === 1 ? '' : 's'}`;
  return `${lines.join('\n')}\n\n${total}: ${counted.map(([state, count]) => `${count} ${state}`).join(', ')}\n`;
}

function asJunit(results: readonly Result[]): string {
  const cases = results.map(({ folder, state, problems }) => ({
    name: folder,
    classname: 'gpugate test',
    ...(state === 'failed' ? { failure: problems } : {}),
    ...(state === 'unreadable' ? { error: problems } : {}),
  }));
  return junitXml('gpugate test', cases);
}

function asJson(results: readonly Result[]): string {
  const scenarios = results.map((result) => ({
    folder: result.folder,
    ...(result.state === 'unreadable' ? {} : { description: result.expected.description }),
    state: result.state,
    problems: result.problems,
  }));
  return `${JSON.stringify({ ...countsOf(results), scenarios }, null, 2)}\n`;
}

function countsOf(results: readonly Result[]): Readonly<Record<Result['state'], number>> {
  const count = (state: Result['state']) => results.filter((result) => result.state === state).length;
  return { passed: count('passed'), failed: count('failed'), unreadable: count('unreadable') };
}
