import { fileDiff } from '../../manifests/file-diff.ts';
import { isColoured } from '../../report/colour.ts';
import { noticeLine } from '../../report/lines.ts';
import { type Counted, type Notice, type Report, type ReportedObject, summaryOf } from '../../report/result.ts';
import { diffText, noticeText, objectText, summaryText } from '../../report/text.ts';
import { EXIT } from '../exit.ts';
import { writeOutput } from '../output.ts';
import type { ReviewOptions } from '../review.ts';
import { VERSION } from '../version.ts';
import type { ReviewedText } from './files.ts';
import { type Output, rendered } from './outputs.ts';
import { patchName, shownName, type Text } from './texts.ts';

/** Prints as objects come, so that only formats that need all of them keep them. */
export interface Printer {
  wants(format: Output['format']): boolean;
  object(object: ReportedObject): void;
  file(file: string, before: Text, reviewed: ReviewedText): void;
  diff(diff: string): void;
  /** To standard error. */
  say(line: string): void;
  /** Prints what is left, and answers the exit code. */
  end(notices: readonly Notice[], unreadable: readonly Notice[]): Promise<number>;
}

export function printerOf(options: ReviewOptions): Printer {
  const { mutated, warningsAsErrors, failOnEmpty, color } = options;
  const outputs: readonly Output[] = options.output ?? [{ format: 'text' }];
  // Beside the manifests, what was found goes to the other stream.
  const stream = mutated ? process.stderr : process.stdout;
  const colour = isColoured(color, stream);
  const live = outputs.some(({ format, file }) => format === 'text' && file === undefined);
  const keeps = outputs.some(({ format, file }) => format !== 'patch' && (format !== 'text' || file !== undefined));
  const kept: ReportedObject[] = [];
  const counted: Counted['objects'][number][] = [];
  const patches: string[] = [];
  let printed = false;
  const say = (line: string) => process.stderr.write(`gpugate: ${line}\n`);

  const wants = (format: Output['format']) => outputs.some((output) => output.format === format);

  return {
    wants,
    object(found) {
      const object = warningsAsErrors ? promoted(found) : found;
      counted.push({ outcome: object.outcome, findings: object.findings.map(({ level }) => ({ level })) });
      if (keeps) kept.push(object);
      if (live) stream.write(objectText(object, colour));
    },
    file(file, before, reviewed) {
      if (wants('patch') && reviewed.changed.text !== before.text) {
        const name = patchName(file);
        if (name === undefined) say(`${shownName(file)}: ${OUTSIDE}`);
        else patches.push(fileDiff(name, before, reviewed.changed));
      }
      if (!mutated) return;
      const parted = printed && !reviewed.mutated.startsWith('---');
      process.stdout.write(`${parted ? '---\n' : ''}${reviewed.mutated.replace(/\n?$/, '\n')}`);
      printed = true;
    },
    diff: (diff) => void (live ? process.stdout : process.stderr).write(diffText(diff, colour)),
    say,
    async end(notices, unreadable) {
      for (const notice of unreadable) say(noticeLine(notice));
      if (outputs.every(({ format }) => SILENT.includes(format))) for (const notice of notices) say(noticeLine(notice));
      const summary = summaryOf({ objects: counted, unreadable });
      const report: Report = { command: 'review', version: VERSION, objects: kept, notices, unreadable };
      for (const { format, file } of outputs) {
        if (format === 'text' && file === undefined) {
          stream.write(notices.map((notice) => noticeText(notice, colour)).join('') + summaryText(summary, colour));
          continue;
        }
        const text = await rendered(format, report, patches.join(''), file === undefined ? colour : color === 'always');
        if (file === undefined) process.stdout.write(text);
        else await writeOutput(file, text);
      }
      const empty = failOnEmpty === true && summary.objects === 0;
      if (empty) say('nothing to review was found (--fail-on-empty)');
      if (unreadable.length > 0 || empty) return EXIT.input;
      const denied = summary.outcomes.denied + summary.outcomes['pods-denied'] + summary.findings.error;
      return denied > 0 ? EXIT.denied : 0;
    },
  };
}

/** Formats that have no place for notices. */
const SILENT: readonly Output['format'][] = ['junit', 'patch'];

/** `git apply` and `patch` touch nothing outside the folder that they are run in. */
const OUTSIDE =
  'is left out of the patch, since it lies outside of this folder; run gpugate where the patch is to be applied';

/** With its warnings as errors. */
function promoted(object: ReportedObject): ReportedObject {
  return {
    ...object,
    findings: object.findings.map((finding) =>
      finding.level === 'warning' ? { ...finding, level: 'error' } : finding,
    ),
  };
}
