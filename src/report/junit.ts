/** One test case of a JUnit report. */
export interface JunitCase {
  readonly name: string;
  readonly classname: string;
  /** What is wrong, one line each: a failure is a verdict, an error kept it from being given. */
  readonly failure?: readonly string[];
  readonly error?: readonly string[];
  /** What is worth saying of a case that passed. */
  readonly output?: readonly string[];
}

/** A JUnit report of one suite, as CI systems read it (no standard; testmoapp/junitxml lists what they agree on). */
export function junitXml(suite: string, cases: readonly JunitCase[]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const errors = cases.filter(({ error }) => error !== undefined).length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="${errors}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escaped(suite)}" ${counts}>`,
    ...cases.flatMap(caseLines),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseLines({ name, classname, failure, error, output }: JunitCase): readonly string[] {
  const head = `    <testcase name="${escaped(name)}" classname="${escaped(classname)}"`;
  const parts = [
    ...problemLines('failure', failure),
    ...problemLines('error', error),
    ...(output ? [`      <system-out>${escaped(output.join('\n'))}</system-out>`] : []),
  ];
  return parts.length === 0 ? [`${head}/>`] : [`${head}>`, ...parts, '    </testcase>'];
}

function problemLines(element: string, lines: readonly string[] | undefined): readonly string[] {
  if (!lines) return [];
  return [`      <${element} message="${escaped(lines[0] ?? '')}">${escaped(lines.join('\n'))}</${element}>`];
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** For text and attributes. Control characters that XML 1.0 can't hold, even as references, become U+FFFD. */
function escaped(text: string): string {
  return text
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
}
