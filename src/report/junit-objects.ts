import { junitXml } from './junit.ts';
import { findingLine, noticeLine, outcomeLine, placeText } from './lines.ts';
import { nameOf, type Report, type ReportedObject } from './result.ts';

/** A test case for each object, of the class of its file or namespace; it fails where the object or its pods would be denied. */
export function asJunit(report: Report): string {
  const suite = `gpugate ${report.command}`;
  return junitXml(suite, [
    ...report.unreadable.map((notice) => ({
      name: 'can be read',
      classname: notice.file ?? suite,
      error: [noticeLine(notice)],
    })),
    ...report.objects.map((object) => {
      const errors = object.findings.filter(({ level }) => level === 'error');
      const others = object.findings.filter(({ level }) => level !== 'error');
      const denied = object.outcome === 'denied' || object.outcome === 'pods-denied';
      // A warning that is taken for an error fails an object of which nothing is denied.
      const failure = [...(denied ? [outcomeLine(object)] : []), ...errors.map((finding) => lineOf(object, finding))];
      const output = [
        ...others.map((finding) => lineOf(object, finding)),
        ...(object.changes.length > 0 ? [outcomeLine(object)] : []),
        ...object.changes.map(({ code, reason }) => `${code} ${reason}`),
      ];
      return {
        name: nameOf(object),
        classname: object.place?.file ?? object.namespace ?? suite,
        ...(failure.length > 0 ? { failure } : {}),
        ...(output.length > 0 ? { output } : {}),
      };
    }),
  ]);
}

function lineOf(object: ReportedObject, finding: ReportedObject['findings'][number]): string {
  const place = finding.place ? `${placeText(finding.place)}: ` : '';
  return `${place}${finding.level} ${finding.code} ${findingLine(object, finding)}`;
}
