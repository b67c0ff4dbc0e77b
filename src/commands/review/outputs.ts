import { asGithub } from '../../report/github.ts';
import { asJson, asYaml } from '../../report/json.ts';
import { asJunit } from '../../report/junit-objects.ts';
import type { Report } from '../../report/result.ts';
import { asText } from '../../report/text.ts';
import type { Output as OutputOf } from '../output.ts';

/** Text and patch are written by whoever goes through the files; the others are made of the whole report. */
export const FORMATS = ['text', 'json', 'yaml', 'sarif', 'junit', 'github', 'patch'] as const;
export type Format = (typeof FORMATS)[number];

export type Output = OutputOf<Format>;

/** What a format makes of a report. `patches` are the diffs of the files. */
export async function rendered(format: Format, report: Report, patches: string, colour: boolean): Promise<string> {
  switch (format) {
    case 'text':
      return asText(report, colour);
    case 'json':
      return asJson(report);
    case 'yaml':
      return asYaml(report);
    case 'sarif': {
      const { RULE_PAGES } = await import('../rule-pages.ts');
      return (await import('../../report/sarif.ts')).asSarif(report, RULE_PAGES);
    }
    case 'junit':
      return asJunit(report);
    case 'github':
      return asGithub(report);
    case 'patch':
      return patches;
  }
}
