import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import sarifSchema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import Ajv from 'ajv-draft-04';
import addFormats from 'ajv-formats';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { CODES } from '../../src/admission/findings.ts';
import { review as reviewHere } from '../../src/commands/review/review.ts';
import type { ReviewOptions } from '../../src/commands/review.ts';
import type { Report } from '../../src/report/result.ts';
import { type Ended, node } from './gpugate.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MAIN = join(ROOT, 'src/main.ts');
const FIXTURES = 'test/review/manifests';
const FORMATS = ['text', 'json', 'yaml', 'sarif', 'junit', 'github', 'patch'] as const;
const HALF = `apiVersion: v1
kind: Pod
metadata: { name: half }
spec: { containers: [{ name: c, image: x, resources: { limits: { nvidia.com/gpu: 0.5 } } }] }
`;
const PLAIN = 'apiVersion: v1\nkind: Pod\nmetadata: { name: plain }\nspec: { containers: [{ name: c, image: x }] }\n';
/** GPU008 is a warning. */
const MISSPELT = HALF.replace('nvidia.com/gpu: 0.5', 'nvdia.com/gpu: 1');

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-review-'));
  await writeFile(join(dir, 'half.yaml'), HALF);
  await writeFile(join(dir, 'plain.yaml'), PLAIN);
  await writeFile(join(dir, 'misspelt.yaml'), MISSPELT);
  await writeFile(join(dir, 'broken.yaml'), 'apiVersion: v1\nkind: [\n');
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Runs it in a folder, with what it reads from standard input. */
async function review(args: readonly string[], { cwd = dir, input = '', env = {} } = {}): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, 'review', ...args], { cwd, env: { ...process.env, ...env } });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  return { code: await code, stdout, stderr };
}

describe('every format of one set of manifests', () => {
  const outputs: Partial<Record<(typeof FORMATS)[number], Ended>> = {};
  beforeAll(async () => {
    const ended = await Promise.all(FORMATS.map((format) => review([FIXTURES, '-o', format], { cwd: ROOT })));
    for (const [index, format] of FORMATS.entries()) outputs[format] = ended[index] as Ended;
  }, 60_000);
  const stdout = (format: (typeof FORMATS)[number]) => outputs[format]?.stdout ?? '';

  it.each(FORMATS)('%s is as it was, and ends with 1', async (format) => {
    // These two have no place for a notice.
    const stderr = ['junit', 'patch'].includes(format) ? /^gpugate: namespace team-elsewhere .*\n$/ : /^$/;
    expect(outputs[format]).toMatchObject({ code: 1, stderr: expect.stringMatching(stderr) });
    const shown = format === 'sarif' ? withoutHelp(stdout(format)) : stdout(format);
    await expect(shown).toMatchFileSnapshot(join(ROOT, `test/review/outputs/${format}.txt`));
  });

  it('JSON and YAML say the same', () => {
    expect(parse(stdout('yaml'))).toEqual(JSON.parse(stdout('json')));
  });

  it('SARIF is valid by its published schema, and every code is a rule with its page', () => {
    const log = JSON.parse(stdout('sarif'));
    const ajv = new Ajv.default({ strict: false, allErrors: true, unicodeRegExp: false });
    addFormats.default(ajv);
    const valid = ajv.compile(sarifSchema);
    valid(log);
    expect(valid.errors).toBeNull();
    valid({ ...log, runs: [{ tool: {} }] });
    expect(valid.errors, 'the schema can fail').not.toBeNull();
    const { tool, results } = log.runs[0];
    expect(tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(Object.keys(CODES));
    for (const { id, shortDescription, fullDescription, help } of tool.driver.rules) {
      expect(help.markdown).toContain(`# ${id}: `);
      expect(help.text).toContain(`gpugate rules explain ${id}`);
      // Code scanning shows both above an alert, the second as plain text of at most 1024 characters.
      expect(fullDescription.text, id).toMatch(/^[^|`\n]{10,1024}$/);
      expect(fullDescription.text).not.toMatch(/\]\(/);
      expect(['GPU130', 'GPU152', 'GPU161'].includes(id), 'of a page that begins with a table').toBe(
        fullDescription.text === shortDescription.text,
      );
    }
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
  });

  it('JUnit is read by a parser: a case an object, and a failure for each that is denied', () => {
    const xml = stdout('junit');
    expect(XMLValidator.validate(xml)).toBe(true);
    const options = {
      ignoreAttributes: false,
      attributeNamePrefix: '',
      isArray: (name: string) => name === 'testcase',
    };
    const { testsuite } = new XMLParser(options).parse(xml).testsuites;
    const { objects } = JSON.parse(stdout('json')) as Report;
    expect(testsuite.testcase.map(({ name }: { name: string }) => name)).toEqual(
      objects.map(({ kind, namespace, name }) => `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`),
    );
    const failed = testsuite.testcase.filter((testcase: object) => 'failure' in testcase);
    expect(failed.map(({ name }: { name: string }) => name)).toEqual([
      'Pod team-inference/infer',
      'Deployment team-inference/many',
    ]);
    expect(testsuite).toMatchObject({ tests: String(objects.length), failures: '2', errors: '0' });
  });

  it('JUnit gives as the reason of a failure what made it fail, also a warning that is taken for an error', async () => {
    const { stdout: xml } = await review(['misspelt.yaml', '--warnings-as-errors', '-o', 'junit']);
    expect(xml).toMatch(
      /<failure message="misspelt\.yaml:4:\d+: error GPU008 Pod default\/half, container &quot;c&quot;: asks for nvdia/,
    );
    expect(xml).not.toContain('is fine as it is');
  });

  it('each place is where the field stands in its file', async () => {
    const { objects } = JSON.parse(stdout('json')) as Report;
    for (const { place, field, value } of objects.flatMap(({ findings }) => findings)) {
      const lines = (await readFile(join(ROOT, place?.file ?? ''), 'utf8')).split('\n');
      const marked = lines[(place?.line ?? 0) - 1]?.slice((place?.column ?? 0) - 1, (place?.endColumn ?? 0) - 1);
      if (field.includes('resources')) expect(marked).toMatch(new RegExp(`${value}`));
      else expect(marked).toBe('spec');
    }
  });

  it('the patch is one that git applies', async () => {
    const copy = await mkdtemp(join(dir, 'patched-'));
    await cp(join(ROOT, 'test/review'), join(copy, 'test/review'), { recursive: true });
    const git = spawn('git', ['apply', '-'], { cwd: copy });
    git.stdin.end(stdout('patch'));
    expect(await new Promise((resolve) => git.on('close', resolve))).toBe(0);
    const { stdout: left } = await review([FIXTURES, '-o', 'patch'], { cwd: copy });
    expect(left, 'nothing is left to change').toBe('');
  });

  it('several come out of one run', async () => {
    const out = join(dir, 'several');
    await mkdir(out);
    const files = ['sarif', 'json', 'text'].map((format) => ['-o', `${format}=${join(out, format)}`]);
    const ended = await review([FIXTURES, ...files.flat(), '-o', 'github'], { cwd: ROOT });
    expect(ended).toMatchObject({ code: 1, stdout: stdout('github') });
    for (const format of ['sarif', 'json', 'text'] as const)
      expect(await readFile(join(out, format), 'utf8')).toBe(stdout(format));
  });
});

/** The pages have their own tests. */
function withoutHelp(sarif: string): string {
  const log = JSON.parse(sarif);
  log.runs[0].tool.driver.rules = `${log.runs[0].tool.driver.rules.length} rules`;
  return `${JSON.stringify(log, null, 2)}\n`;
}

describe('exit codes', () => {
  const CODES_OF: readonly [number, string, readonly string[], Partial<ReviewOptions>][] = [
    [0, 'nothing would be denied', ['plain.yaml'], {}],
    [0, 'a warning', ['misspelt.yaml'], {}],
    [1, 'something would be denied', ['plain.yaml', 'half.yaml'], {}],
    [1, 'a warning as an error', ['misspelt.yaml'], { warningsAsErrors: true }],
    [3, 'a file that is no YAML, beside one that would be denied', ['broken.yaml', 'half.yaml'], {}],
    [3, 'nothing to review, where that is asked for', ['empty'], { failOnEmpty: true }],
    [3, 'a kubeconfig that is not there', ['plain.yaml'], { cluster: true, kubeconfig: 'no-such-file' }],
    [4, 'no cluster', ['plain.yaml'], { cluster: true, context: 'no-such-context' }],
  ];
  const flagOf: Readonly<Record<string, readonly string[]>> = {
    warningsAsErrors: ['--warnings-as-errors'],
    failOnEmpty: ['--fail-on-empty'],
    cluster: ['--cluster'],
    kubeconfig: ['--kubeconfig', 'no-such-file'],
    context: ['--context', 'no-such-context'],
  };
  beforeAll(() => mkdir(join(dir, 'empty')));

  it.each(CODES_OF)('%i: %s', async (code, _, paths, options) => {
    const ended = await review([...paths, ...Object.keys(options).flatMap((name) => flagOf[name] ?? [])]);
    expect(ended.code, ended.stderr).toBe(code);
    if (code >= 3) expect(ended.stderr).toMatch(/^gpugate: /);
  });

  describe.each(FORMATS)('as %s', (format) => {
    it.each(CODES_OF)('%i: %s', async (code, _, paths, options) => {
      const defaults = { namespaceLabel: {}, requestTimeout: 1000, gpuResources: [], color: 'auto' } as const;
      const output = [{ format, file: join(dir, 'out') }];
      const inDir = paths.map((path) => join(dir, path));
      const ended = reviewHere(inDir, { ...defaults, ...options, output }).catch(({ exitCode }) => exitCode);
      expect(await ended).toBe(code);
    });
  });
});

describe('wrong use ends with 2 and says how it is right', () => {
  it.each([
    [['half.yaml', '-o', 'xml'], 'Known are text, json'],
    [['half.yaml', '-o', 'json', '-o', 'yaml'], '-o json and -o yaml both go to standard output'],
    [['half.yaml', '-o', 'json', '--mutated'], '-o json and --mutated both'],
    [
      ['half.yaml', '-o', 'json=out', '-o', 'text=./out'],
      './out is to hold json already; give each format a file of its own',
    ],
    [['half.yaml', '--dry-run'], '--dry-run stands without --fix'],
    [['-', '--fix'], '--fix cannot write to standard input'],
    [['half.yaml', '--namespace-label', 'a'], 'KEY=VALUE'],
    [[], 'paths'],
  ])('%j', async (args, said) => {
    const { code, stdout, stderr } = await review(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(said);
  });
});

it('one file that cannot be read hides nothing of the others', async () => {
  const { code, stdout, stderr } = await review(['broken.yaml', 'gone.yaml', 'half.yaml']);
  expect(code).toBe(3);
  expect(stdout).toMatch(/^half.yaml:4:\d+: error GPU002 /m);
  expect(stdout).toMatch(/1 would be denied; 1 error; 2 places could not be read\n$/);
  expect(stderr).toMatch(/^gpugate: gone.yaml: there is no such file or folder\ngpugate: broken.yaml:\d+:\d+: /);
});

describe('where manifests come from', () => {
  it('standard input, as Helm and kustomize write it', async () => {
    const { code, stdout } = await review(['-'], {
      input: `---\n# Source: chart/templates/a.yaml\n${PLAIN}---\n${HALF}`,
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^<stdin>:11:66: error GPU002 /m);
  });

  it('a folder with all below it, but for hidden ones and node_modules', async () => {
    const tree = join(dir, 'tree');
    for (const folder of ['a/b', '.hidden', 'node_modules/x']) {
      await mkdir(join(tree, folder), { recursive: true });
      await writeFile(join(tree, folder, 'pod.yml'), HALF);
    }
    await writeFile(join(tree, 'values.yaml'), 'replicas: 2\n');
    await writeFile(join(tree, 'notes.txt'), HALF);
    const { stdout } = await review(['tree', '-o', 'json']);
    expect((JSON.parse(stdout) as Report).objects.map(({ place }) => place?.file)).toEqual(['tree/a/b/pod.yml']);
  });

  it.each([
    ['Chart.yaml', 'a Helm chart', 'helm template'],
    ['kustomization.yaml', 'a kustomization', 'kubectl kustomize'],
  ])('of a folder with %s it is said how to render it', async (file, what, command) => {
    const folder = join(dir, `unrendered-${file}`);
    await mkdir(join(folder, 'templates'), { recursive: true });
    await writeFile(join(folder, file), '');
    await writeFile(join(folder, 'templates/pod.yaml'), 'kind: {{ .Values.kind }}\n');
    const given = await review([`unrendered-${file}`]);
    expect(given.code, 'what was given and not reviewed is not clean').toBe(3);
    expect(given.stderr).toBe(
      `gpugate: unrendered-${file}: ${what}, whose files are no manifests yet; review what it renders: ${command} unrendered-${file} | gpugate review -\n`,
    );
    const above = await mkdtemp(join(dir, 'above-'));
    await cp(folder, join(above, 'chart'), { recursive: true });
    await writeFile(join(above, 'pod.yaml'), PLAIN);
    const found = await review(['.'], { cwd: above });
    expect(found).toMatchObject({ code: 0, stderr: '' });
    expect(found.stdout).toContain(`${command} chart | gpugate review -`);
  });

  it.each(['json', 'yaml'])('a recorded AdmissionReview in %s is judged as it was sent', async (format) => {
    const recorded = await readFile(join(ROOT, 'test/reviews/pod-create-fraction.json'), 'utf8');
    const written = format === 'json' ? recorded : parseAllDocuments(recorded)[0]?.toString();
    const { code, stdout } = await review(['-', '-o', 'json'], { input: written ?? '' });
    expect(code).toBe(1);
    const { kind, name, namespace } = JSON.parse(recorded).request.object.metadata;
    const [object] = (JSON.parse(stdout) as Report).objects;
    expect(object).toMatchObject({ kind: kind ?? 'Pod', name, namespace, outcome: 'denied' });
    expect(object?.findings[0]).toMatchObject({ code: 'GPU002', place: { file: '<stdin>', line: expect.any(Number) } });
  });
});

describe('what pods are judged by', () => {
  const SLICES = ['gpugate.dev/sharing=mig', 'gpugate.dev/mig-profile=1g.10gb'].flatMap((label) => [
    '--namespace-label',
    label,
  ]);
  const WHOLE = HALF.replace('0.5', '1');

  it('a namespace that nothing is known of is told, once', async () => {
    const { code, stdout } = await review(['-', '-n', 'team-a'], { input: `${WHOLE}---\n${WHOLE}` });
    expect(code).toBe(0);
    expect(stdout.match(/^notice namespace team-a is not known/gm)).toHaveLength(1);
  });

  it('nothing is said of the namespace of pods without GPUs', async () => {
    expect((await review(['plain.yaml'])).stdout).toBe('1 object: 1 clean\n');
  });

  it('labels of the command line stand for a namespace', async () => {
    const { stdout } = await review(['-', '-o', 'json', ...SLICES], { input: WHOLE });
    expect((JSON.parse(stdout) as Report).objects[0]).toMatchObject({ namespace: 'default', outcome: 'changed' });
  });

  it('policies, namespaces and nodes come from the files that `serve` takes', async () => {
    const flags = ['policies', 'namespaces', 'nodes'].flatMap((name) => [
      `--${name}`,
      join(ROOT, 'deploy', FROM[name] ?? ''),
    ]);
    const { code, stdout } = await review(['-', '-n', 'team-notebooks', '-o', 'json', ...flags], { input: HALF });
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as Report).objects[0]).toMatchObject({
      policy: 'notebooks',
      findings: [{ code: 'GPU002', fix: 'Ask for 1: here one unit is a quarter of a GPU.' }],
    });
  });
  const FROM: Readonly<Record<string, string>> = {
    policies: 'policies',
    namespaces: 'demo/namespaces.yaml',
    nodes: 'demo/nodes.yaml',
  };

  it('a GpuPolicy that would be refused is told at its field, and so are the pods that it governs', async () => {
    const input = `apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: { name: slices }
spec:
  sharing: mig
  mig: { profile: 1g.11gb }
---
apiVersion: v1
kind: Namespace
metadata: { name: default, labels: { gpugate.dev/policy: slices, gpugate.dev/polcy: x } }
---
${WHOLE}`;
    const { stdout } = await review(['-'], { input });
    expect(stdout).toMatch(/^<stdin>:6:10: error GPU113 GpuPolicy slices: /m);
    expect(stdout).toMatch(/^<stdin>:10:66: warning GPU101 Namespace default: /m);
    expect(stdout).toMatch(/^<stdin>:12:1: Pod default\/half would be denied/m);
  });

  it('a workload whose pods only have their requests set is clean, as at the API server', async () => {
    const template = {
      spec: { containers: [{ name: 'c', image: 'x', resources: { limits: { 'nvidia.com/gpu': 1 } } }] },
    };
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec: { template } };
    const input = JSON.stringify(deployment);
    const { stdout } = await review(['-', '--namespace-label', 'gpugate.dev/mode=enforce'], { input });
    expect(stdout).toBe('1 object: 1 clean\n');
  });

  it('namespaces that the webhook leaves out are left out', async () => {
    const { code, stdout } = await review(['half.yaml', '-n', 'kube-system']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      'notice namespace kube-system is left out: the API server does not ask gpugate about it\n0 objects\n',
    );
  });

  it('a limit that is no number is told once: the API server copies none into the requests', async () => {
    const { stdout } = await review(['-'], { input: HALF.replace('0.5', 'abc') });
    expect(stdout.match(/GPU001.*/g)).toEqual([
      'GPU001 Pod default/half, container "c": nvidia.com/gpu in limits is "abc", which is not a number.',
    ]);
    const infinite = await review(['-'], { input: HALF.replace('0.5', '.inf') });
    expect(infinite.stdout.match(/GPU001.*/g)).toEqual([
      'GPU001 Pod default/half, container "c": nvidia.com/gpu in limits is .inf, which is not a number.',
    ]);
  });

  it('of a GpuPolicy each mistake names its field, its value and what to do, at the place of the key', async () => {
    const policy = [
      'apiVersion: gpugate.dev/v1alpha1',
      'kind: GpuPolicy',
      'metadata: { name: bad }',
      'spec: { sharing: migg, foo: 1, mde: warn, templates: false, nodesOnDemand: maybe, otherSchedulers: [""],',
      '  mig: { profile: 1g.10gb },',
      '  memoryCap: { reserve: .inf }}',
      '',
    ].join('\n');
    const { code, stdout } = await review(['-'], { input: policy });
    expect(code).toBe(1);
    expect(stdout.split('\n').slice(1, -2)).toEqual([
      '<stdin>:4:9: error GPU101 GpuPolicy bad: spec.sharing is "migg", which is not one of exclusive, time-slicing, mps, mig.',
      '    Did you mean mig?',
      '<stdin>:6:3: error GPU101 GpuPolicy bad: spec.memoryCap.amount is missing.',
      '    Add spec.memoryCap.amount.',
      '<stdin>:6:16: error GPU101 GpuPolicy bad: spec.memoryCap.reserve is .inf, which is not a quantity.',
      '    Correct spec.memoryCap.reserve.',
      '<stdin>:4:61: error GPU101 GpuPolicy bad: spec.nodesOnDemand is "maybe", which is not true or false.',
      '    Correct spec.nodesOnDemand.',
      '<stdin>:4:101: error GPU101 GpuPolicy bad: spec.otherSchedulers[0] is empty.',
      '    Correct spec.otherSchedulers[0].',
      '<stdin>:4:43: error GPU101 GpuPolicy bad: spec.templates is false, which is not one of off, warn, deny, mutate.',
      '    Write "off" in quotes.',
      '<stdin>:4:24: error GPU101 GpuPolicy bad: spec.foo is not a field that gpugate knows.',
      '    Known are mode, sharing, mig, exclusive, timeSlicing, mps, memoryCap, tolerations, runtimeClassName, nodesOnDemand, otherSchedulers, maxGpus, visibleDevices, templates, locked.',
      '<stdin>:4:32: error GPU101 GpuPolicy bad: spec.mde is not a field that gpugate knows.',
      '    Did you mean mode?',
    ]);
  });

  it('a key that stands twice is named', async () => {
    const { stderr } = await review(['-'], { input: HALF.replace('0.5', '1, nvidia.com/gpu: 2') });
    expect(stderr).toBe('gpugate: <stdin>:4:85: key "nvidia.com/gpu" is already set in this map\n');
  });

  it('a Node that is no Node is a mistake with its place', async () => {
    const { code, stderr } = await review(['-'], { input: 'apiVersion: v1\nkind: Node\nmetadata: { name: 3 }\n' });
    expect(code).toBe(3);
    expect(stderr).toBe('gpugate: <stdin>:3:13: metadata.name is 3, which is not a name\n');
  });
});

describe('--mutated', () => {
  it('prints what the webhook leaves, with comments and all other objects as they are', async () => {
    const { code, stdout, stderr } = await review([`${FIXTURES}/pods.yaml`, `${FIXTURES}/cluster.yaml`, '--mutated'], {
      cwd: ROOT,
    });
    expect(code).toBe(1);
    const before = await readFile(join(ROOT, FIXTURES, 'pods.yaml'), 'utf8');
    const cluster = await readFile(join(ROOT, FIXTURES, 'cluster.yaml'), 'utf8');
    const lines = stdout.split('\n');
    expect(before.split('\n').filter((line) => !lines.includes(line))).toEqual([
      '          nvidia.com/gpu: 1 # the whole of it',
    ]);
    expect(stdout).toContain('nvidia.com/mig-1g.10gb: 1 # the whole of it');
    expect(stdout.endsWith(`---\n${cluster}`)).toBe(true);
    expect(stderr).toContain('would be denied');
  });

  it('an object whose text cannot be edited is written anew', async () => {
    const input = `apiVersion: v1
kind: Pod
metadata: { name: a }
x: &gpu { limits: { nvidia.com/gpu: 1 } }
spec: { containers: [{ name: c, image: x, resources: *gpu }] }
`;
    const labels = [
      '--namespace-label',
      'gpugate.dev/sharing=mig',
      '--namespace-label',
      'gpugate.dev/mig-profile=1g.10gb',
    ];
    const { stdout } = await review(['-', '--mutated', ...labels], { input });
    expect(parse(stdout).spec.containers[0].resources.limits).toEqual({ 'nvidia.com/mig-1g.10gb': 1 });
  });
});

describe('--fix', () => {
  const REQUEST = `# ours
apiVersion: v1
kind: Pod
metadata: { name: a } # a name
spec:
  containers:
    - name: c
      image: x
      resources:
        requests:
          cpu: 500m
          nvidia.com/gpu: 2 # two
    - { name: half, image: x, resources: { limits: { nvidia.com/gpu: 0.5 } } }
`;
  const fixed = REQUEST.replace('# two\n', '# two\n        limits:\n          nvidia.com/gpu: 2\n');

  it('writes the limit of a request, keeps comments and order, and guesses nothing', async () => {
    const file = join(dir, 'request.yaml');
    await writeFile(file, REQUEST);
    const shown = await review(['request.yaml', '--fix', '--dry-run']);
    expect(shown.code).toBe(1);
    expect(shown.stdout).toContain('+          nvidia.com/gpu: 2\n');
    expect(await readFile(file, 'utf8'), 'a dry run writes nothing').toBe(REQUEST);

    const { code, stdout, stderr } = await review(['request.yaml', '--fix']);
    expect(await readFile(file, 'utf8')).toBe(fixed);
    expect(stderr).toBe(
      'gpugate: request.yaml:12:11: GPU004 Pod default/a, container "c": spec.containers[0].resources.limits[nvidia.com/gpu]: 2 is written\n',
    );
    expect(stdout).toContain('GPU002');
    expect(stdout, 'what was fixed is not told any more').not.toContain('GPU004');
    expect(code, 'half a GPU is left').toBe(1);
  });

  it('makes a broken file clean where nothing else is wrong', async () => {
    const file = join(dir, 'only-request.yaml');
    await writeFile(file, REQUEST.replace(/ {4}- \{.*\n/, ''));
    expect((await review(['only-request.yaml', '--fix'])).code).toBe(0);
    expect((await review(['only-request.yaml'])).code).toBe(0);
  });

  it('writes once what several containers share by an anchor', async () => {
    const shared = (limits: string) => `apiVersion: v1
kind: Pod
metadata: { name: shared }
spec:
  containers:
    - name: a
      image: x
      resources: &gpu # for both
        requests:
          nvidia.com/gpu: 1
${limits}    - name: b
      image: x
      resources: *gpu
`;
    const file = join(dir, 'shared.yaml');
    await writeFile(file, shared(''));
    const { code, stderr } = await review(['shared.yaml', '--fix']);
    expect(code).toBe(0);
    const told = (container: string, index: number) =>
      `gpugate: shared.yaml:10:11: GPU004 Pod default/shared, container "${container}": spec.containers[${index}].resources.limits[nvidia.com/gpu]: 1 is written\n`;
    expect(stderr).toBe(told('a', 0) + told('b', 1));
    expect(await readFile(file, 'utf8')).toBe(shared('        limits:\n          nvidia.com/gpu: 1\n'));
  });

  it.each(['--fix', '--fix --dry-run'])('says what it cannot write for an anchor: %s', async (flags) => {
    const text = `apiVersion: v1
kind: Pod
metadata: { name: shared }
spec:
  containers:
    - { name: a, image: x, resources: { limits: &limits { cpu: 1 }, requests: { nvidia.com/gpu: 1 } } }
    - { name: b, image: x, resources: { limits: *limits } }
`;
    const file = join(dir, 'unfixed.yaml');
    await writeFile(file, text);
    const { code, stderr } = await review(['unfixed.yaml', ...flags.split(' ')]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'gpugate: unfixed.yaml:6:81: GPU004 is not fixed: what would be changed stands at a YAML anchor, and other ' +
        'places share it; write spec.containers[0].resources.limits[nvidia.com/gpu]: 1 by hand\n',
    });
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('writes what it can where something else cannot be written', async () => {
    const text = `apiVersion: v1
kind: Pod
metadata: { name: shared }
spec:
  initContainers:
    - { name: i, image: x, resources: { limits: &limits { cpu: 1 }, requests: { nvidia.com/gpu: 1 } } }
  containers:
    - { name: b, image: x, resources: { limits: *limits } }
    - { name: c, image: x, resources: { requests: { nvidia.com/gpu: 2 } } }
`;
    const file = join(dir, 'partly.yaml');
    await writeFile(file, text);
    const { stderr } = await review(['partly.yaml', '--fix']);
    expect(stderr).toMatch(
      /partly.yaml:6:81: GPU004 is not fixed.*\n.*partly.yaml:9:\d+: GPU004 .*container "c".* is written\n$/,
    );
    expect(await readFile(file, 'utf8')).toBe(text.replace('gpu: 2 }', 'gpu: 2 }, limits: { nvidia.com/gpu: 2 }'));
  });

  it('touches no file that has nothing to fix', async () => {
    const before = await readFile(join(dir, 'half.yaml'), 'utf8');
    const { stderr } = await review(['half.yaml', '--fix']);
    expect(stderr).toBe('');
    expect(await readFile(join(dir, 'half.yaml'), 'utf8')).toBe(before);
  });

  it('--fix-policy writes what the policy changes; afterwards it changes nothing more', async () => {
    const copy = await mkdtemp(join(dir, 'policy-'));
    await cp(join(ROOT, FIXTURES), copy, { recursive: true });
    await review(['.', '--fix-policy'], { cwd: copy });
    expect(await readFile(join(copy, 'pods.yaml'), 'utf8')).toContain('nvidia.com/mig-1g.10gb: 1 # the whole of it');
    const { objects } = JSON.parse((await review(['.', '-o', 'json'], { cwd: copy })).stdout) as Report;
    expect(objects.filter(({ outcome }) => outcome === 'changed' || outcome === 'announced')).toEqual([]);
  });
});

describe('colour', () => {
  const ESC = String.fromCharCode(27);
  it.each<[string, readonly string[], Record<string, string>, boolean]>([
    ['a pipe has none', [], {}, false],
    ['FORCE_COLOR brings it', [], { FORCE_COLOR: '1' }, true],
    ['--color=never beats FORCE_COLOR', ['--color', 'never'], { FORCE_COLOR: '1' }, false],
    ['--color=always beats NO_COLOR', ['--color', 'always'], { NO_COLOR: '1' }, true],
  ])('%s', async (_, flags, env, coloured) => {
    expect((await review(['half.yaml', ...flags], { env })).stdout.includes(ESC)).toBe(coloured);
  });

  it.each<[string, Record<string, string>, boolean]>([
    ['a terminal has it', { TERM: 'xterm-256color' }, true],
    ['not with NO_COLOR', { TERM: 'xterm-256color', NO_COLOR: '1' }, false],
    ['not a dumb one', { TERM: 'dumb' }, false],
  ])('%s', async (_, env, coloured) => {
    const terminal = await node(['-e', ON_A_TERMINAL, MAIN, join(dir, 'half.yaml')], env);
    expect(terminal.stdout).toContain('GPU002');
    expect(terminal.stdout.includes(ESC)).toBe(coloured);
  });
});

// Standard output says that it is a terminal, as tty.WriteStream does.
const ON_A_TERMINAL = `
  const { WriteStream } = require('node:tty');
  process.stdout.isTTY = true;
  process.stdout.getColorDepth = WriteStream.prototype.getColorDepth;
  process.stdout.hasColors = WriteStream.prototype.hasColors;
  process.argv = [process.argv[0], process.argv[1], 'review', process.argv[2]];
  import(process.argv[1]);
`;
