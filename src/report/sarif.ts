import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CODES, type Code } from '../admission/findings.ts';
import { findingLine } from './lines.ts';
import { type Notice, nameOf, type Place, type Report, type ReportedFinding, type ReportedObject } from './result.ts';

/** The pages of docs/rules/, by code. */
export type RulePages = Readonly<Record<string, string>>;

const codes = Object.keys(CODES) as Code[];

/** SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0), as code scanning reads it. Every code is a rule, its page the help. */
export function asSarif(report: Report, pages: RulePages = {}): string {
  const { version, objects, notices, unreadable } = report;
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'gpugate', version, semanticVersion: version, rules: codes.map((code) => rule(code, pages)) },
        },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: unreadable.length === 0,
            toolExecutionNotifications: [
              ...unreadable.map((notice) => notification(notice, 'error')),
              ...notices.map((notice) => notification(notice, 'note')),
            ],
          },
        ],
        results: objects.flatMap((object) => object.findings.map((finding) => result(object, finding))),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function rule(code: Code, pages: RulePages): object {
  const short = CODES[code];
  // Links to other pages lead nowhere from here.
  const page = pages[code]?.replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1');
  return {
    id: code,
    shortDescription: { text: short },
    fullDescription: { text: whatIn(page ?? '') ?? short },
    // No helpUri: the pages stand in the repository, and have no address that is the same for all.
    help: {
      text: `${code}: ${short}. "gpugate rules explain ${code}" says what it means and how to fix it.`,
      ...(page === undefined ? {} : { markdown: page }),
    },
  };
}

/** The first paragraph below "What" of a page as plain text; of a table none. */
function whatIn(page: string): string | undefined {
  const paragraph = /^## What\n\n([^|][\s\S]*?)\n\n/m.exec(page)?.[1];
  return paragraph?.replaceAll('`', '').replaceAll('\n', ' ');
}

function result(object: ReportedObject, finding: ReportedFinding): object {
  const { code, level, field, place } = finding;
  const name = nameOf(object);
  const what = [code, name, field].join('\n');
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level,
    message: { text: findingLine(object, finding) },
    locations: [
      {
        ...(place ? { physicalLocation: physical(place) } : {}),
        logicalLocations: [{ fullyQualifiedName: `${name} ${field}`, kind: 'object' }],
      },
    ],
    // What stays the same when lines move: the finding's place in the object.
    partialFingerprints: { 'gpugate/v1': createHash('sha256').update(what).digest('hex') },
  };
}

function notification(notice: Notice, level: 'error' | 'note'): object {
  const { message, file, line, column } = notice;
  const region = line === undefined ? {} : { region: { startLine: line, ...(column ? { startColumn: column } : {}) } };
  return {
    level,
    message: { text: message },
    ...(file === undefined
      ? {}
      : { locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) }, ...region } }] }),
  };
}

function physical({ file, line, column, endLine, endColumn }: Place): object {
  return {
    artifactLocation: { uri: uriOf(file) },
    region: { startLine: line, startColumn: column, endLine, endColumn },
  };
}

/** Relative to where the command was run, as code scanning takes it to be the root of the repository. */
function uriOf(file: string): string {
  if (isAbsolute(file)) return pathToFileURL(file).href;
  const path = file.replace(/^\.\//, '').replace(/^<(.*)>$/, '$1');
  return path.split('/').map(encodeURIComponent).join('/');
}
