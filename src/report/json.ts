import { stringify } from 'yaml';
import { type Report, summaryOf } from './result.ts';

/** A report for programs: as it is, with its summary last. */
export function asJson(report: Report): string {
  return `${JSON.stringify(withSummary(report), null, 2)}\n`;
}

/** The same as YAML. */
export function asYaml(report: Report): string {
  return stringify(withSummary(report), { lineWidth: 0, aliasDuplicateObjects: false });
}

function withSummary(report: Report): object {
  return { ...report, summary: summaryOf(report) };
}
