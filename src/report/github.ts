import { CODES } from '../admission/findings.ts';
import { findingLine, noticeLine } from './lines.ts';
import type { Notice, Report } from './result.ts';

const COMMANDS = { error: 'error', warning: 'warning', note: 'notice' } as const;

/** Workflow commands that GitHub shows as annotations beside the lines of a pull request. */
export function asGithub(report: Report): string {
  const findings = report.objects.flatMap((object) =>
    object.findings.map((finding) => {
      const { code, level, place } = finding;
      // A column without an end on the same line is not shown.
      const oneLine = place && place.line === place.endLine;
      const where = place
        ? {
            file: place.file,
            line: place.line,
            endLine: place.endLine,
            ...(oneLine ? { col: place.column, endColumn: place.endColumn } : {}),
          }
        : {};
      return command(COMMANDS[level], { ...where, title: `${code}: ${CODES[code]}` }, findingLine(object, finding));
    }),
  );
  const told = (name: 'error' | 'notice', notices: readonly Notice[]) =>
    notices.map((notice) => {
      const { file, line, column: col } = notice;
      const where =
        file === undefined || file.startsWith('<') ? {} : { file, ...(line ? { line } : {}), ...(col ? { col } : {}) };
      return command(name, where, noticeLine(notice));
    });
  return [...told('error', report.unreadable), ...findings, ...told('notice', report.notices)].join('');
}

/** `::error file=a.yaml,line=3::text`, with what would end a part of it as percent codes (actions/toolkit, command.ts). */
function command(name: string, properties: Readonly<Record<string, string | number>>, message: string): string {
  const written = Object.entries(properties).map(([key, value]) => `${key}=${escapedProperty(String(value))}`);
  return `::${name}${written.length > 0 ? ' ' : ''}${written.join(',')}::${escaped(message)}\n`;
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapedProperty(text: string): string {
  return escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
