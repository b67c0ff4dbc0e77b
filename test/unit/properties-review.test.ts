import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { sameJson } from '../../src/admission/json.ts';
import { withTemplateKinds } from '../../src/admission/template-kinds.ts';
import { type Reviewing, reviewText } from '../../src/commands/review/files.ts';
import { fileDiff } from '../../src/manifests/file-diff.ts';
import { readManifests } from '../../src/manifests/read.ts';
import type { ReportedObject } from '../../src/report/result.ts';
import { anyJson } from './arbitrary-json.ts';
import { anyPod, type Json, soundPod } from './arbitrary-pod.ts';
import { applied, ask, RUNS, TIMEOUT, withDefaults } from './arbitrary-review.ts';
import { enforcing, judgeOf, type World, world } from './arbitrary-world.ts';

/** The ways in which people and programs write manifests. */
const STYLES: Readonly<Record<string, (object: object) => string>> = {
  block: (object) => stringify(object, { aliasDuplicateObjects: false }),
  'lists not indented': (object) => stringify(object, { indentSeq: false, aliasDuplicateObjects: false }),
  'four spaces': (object) => stringify(object, { indent: 4, aliasDuplicateObjects: false }),
  flow: (object) => stringify(object, { collectionStyle: 'flow', aliasDuplicateObjects: false }),
  'one line of JSON': (object) => JSON.stringify(object),
  'JSON in lines': (object) => JSON.stringify(object, null, 2),
  'JSON by tabs': (object) => JSON.stringify(object, null, '\t'),
  'lines of Windows': (object) => stringify(object, { aliasDuplicateObjects: false }).replaceAll('\n', '\r\n'),
  'without a newline at its end': (object) => stringify(object, { aliasDuplicateObjects: false }).trimEnd(),
  'behind another document': (object) =>
    `# first\na: 1\n---\n${stringify(object, { aliasDuplicateObjects: false })}---\nb: 2\n`,
};
const anyStyle = fc.constantFrom(...Object.values(STYLES));

async function reviewed(text: string, around: World) {
  const reviewing: Reviewing = {
    judge: judgeOf(around),
    kinds: withTemplateKinds(),
    gpuResources: [],
    namespaceOf: () => 'team-a',
    onNamespace: () => {},
    onUnknownKind: () => {},
    isExcluded: () => false,
  };
  const objects: ReportedObject[] = [];
  const result = await reviewText('a.yaml', text, reviewing, (object) => objects.push(object));
  return { ...result, objects };
}

const asPod = (pod: Json): Json => ({ apiVersion: 'v1', kind: 'Pod', ...pod });
const podIn = (text: string) =>
  [...readManifests('a.yaml', text)].flatMap((read) => ('manifest' in read ? [read.manifest.object] : []))[0];

const someFiles = fc.tuple(fc.array(soundPod, { minLength: 1, maxLength: 4 }), enforcing, anyStyle);

describe('laws of review', { timeout: TIMEOUT }, () => {
  it('the verdict is that of the webhook, however the manifest is written', async () => {
    await fc.assert(
      fc.asyncProperty(anyPod, world, anyStyle, async (pod, around, written) => {
        const text = written(asPod(pod));
        const { objects, unreadable } = await reviewed(text, around);
        // What YAML can't hold or reads as another value is not the same pod.
        fc.pre(unreadable.length === 0 && sameJson(podIn(text), JSON.parse(JSON.stringify(asPod(pod)))));
        const judge = judgeOf(around);
        const sent = withDefaults(asPod(pod));
        const first = await ask(judge, 'mutate', sent);
        const last = first.answer.allowed ? await ask(judge, 'validate', applied(sent, first.answer.patch)) : first;
        expect(objects.map(({ outcome }) => outcome !== 'denied')).toEqual([last.answer.allowed]);
      }),
      { numRuns: RUNS },
    );
  });

  it('what the webhook changes can be written into the text, and then it changes nothing more', async () => {
    await fc.assert(
      fc.asyncProperty(soundPod, enforcing, anyStyle, async (pod, around, written) => {
        const text = written(asPod(pod));
        const { mutated, unedited, objects } = await reviewed(text, around);
        expect(unedited).toEqual([]);
        if (objects[0]?.outcome !== 'changed') {
          expect(mutated).toBe(text);
          return;
        }
        const again = await reviewed(mutated, around);
        expect(again.objects.map(({ outcome }) => outcome)).not.toContain('changed');
      }),
      { numRuns: RUNS },
    );
  });

  it('git apply and patch make of the files what the patch says', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'gpugate-patch-'));
    try {
      const patches: string[] = [];
      const wanted = new Map<string, string>();
      for (const [index, [pods, around, written]] of fc.sample(someFiles, 60).entries()) {
        const text = pods.map((pod) => written(asPod(pod))).join('\n---\n');
        const { changed } = await reviewed(text, around);
        if (changed.text === text) continue;
        for (const tool of ['git', 'patch']) await writeFile(join(dir, `${tool}-${index}.yaml`), text);
        patches.push(fileDiff(`TOOL-${index}.yaml`, { text, mark: '' }, changed));
        wanted.set(`${index}.yaml`, changed.text);
      }
      expect(wanted.size).toBeGreaterThan(10);
      const run = promisify(execFile);
      for (const [tool, ...args] of [
        ['git', 'apply', '--whitespace=nowarn'],
        ['patch', '--batch', '-p1', '-i'],
      ] as const) {
        await writeFile(join(dir, 'diff'), patches.join('').replaceAll('TOOL', tool));
        await run(tool, [...args, 'diff'], { cwd: dir });
        for (const [name, text] of wanted) expect(await readFile(join(dir, `${tool}-${name}`), 'utf8')).toBe(text);
      }
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

  it('nothing in a file makes it fail', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(anyJson, fc.string()),
        fc.constantFrom('Pod', 'List', 'AdmissionReview', 'Namespace', 'GpuPolicy'),
        world,
        async (value, kind, around) => {
          for (const text of [
            typeof value === 'string' ? value : JSON.stringify(value),
            stringify({ apiVersion: 'v1', kind, items: [value], request: value, spec: value, metadata: value }),
          ]) {
            await reviewed(text, around);
          }
        },
      ),
      { numRuns: RUNS },
    );
  });
});
