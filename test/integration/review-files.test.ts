import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

// Files as they come: other encodings, pipes, full disks.

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const POD = `# café
apiVersion: v1
kind: Pod
metadata: { name: train }
spec:
  containers:
    - name: train
      image: registry.example/train:1
      resources:
        requests:
          nvidia.com/gpu: 1
`;
const FIXED = `${POD}        limits:\n          nvidia.com/gpu: 1\n`;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-files-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Runs a command of bash in the folder, with `gpugate` as a function. */
function bash(command: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const script = `gpugate() { "${process.execPath}" "${MAIN}" "$@"; }\n${command}`;
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd: dir }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

const UNKNOWN = (kind: string) =>
  `apiVersion: example.com/v1\nkind: ${kind}\nmetadata: { name: a }\nspec: { template: { spec: { containers: [{ resources: { limits: { nvidia.com/gpu: 0.5 } } }] } } }\n`;

describe('review does not pass over in silence', () => {
  it('what is meant to be a pod and is none', async () => {
    await writeFile(join(dir, 'a.yaml'), POD.replace('apiVersion', 'apiversion'));
    await writeFile(join(dir, 'b.json'), `[${JSON.stringify({ kind: 'Pod', metadata: {} })}]`);
    await writeFile(join(dir, 'values.yaml'), 'kind: DaemonSet\nreplicas: 1\n');
    expect(await bash('gpugate review .')).toEqual({
      code: 3,
      stdout: '0 objects; 2 places could not be read\n',
      stderr:
        'gpugate: a.yaml:2:1: has kind Pod and no apiVersion ("apiversion" is written apiVersion)\n' +
        'gpugate: b.json:1:1: is a list of objects and no object; put it under the items of a kind: List\n',
    });
  });

  it.each([
    ['text', 'stdout', '^notice a.yaml:\\d+:1: '],
    ['json', 'stdout', '"message": "'],
    ['patch', 'stderr', '^gpugate: a.yaml:\\d+:1: '],
    ['junit', 'stderr', '^gpugate: a.yaml:\\d+:1: '],
  ] as const)('a kind that it does not know, and that asks for GPUs, once: %s', async (format, stream, begin) => {
    await writeFile(join(dir, 'a.yaml'), `${UNKNOWN('Rollout')}---\n${UNKNOWN('Rollout')}---\n${UNKNOWN('Service')}`);
    const ended = await bash(`gpugate review a.yaml -o ${format}`);
    expect(ended.code).toBe(0);
    const said = new RegExp(`${begin}kind \\w+ of group example.com asks for GPUs in pods that`, 'gm');
    expect(ended[stream].match(said)).toHaveLength(2);
  });

  it('what --templates names is judged', async () => {
    await writeFile(join(dir, 'a.yaml'), UNKNOWN('Rollout'));
    await writeFile(
      join(dir, 't'),
      '- { group: example.com, kind: Rollout, plural: rollouts, paths: [spec.template] }\n',
    );
    const { code, stdout } = await bash('gpugate review a.yaml --templates t');
    expect(code).toBe(1);
    expect(stdout).not.toContain('notice kind');
  });
});

describe('review', () => {
  it('reads a pipe that can be read only once', async () => {
    await writeFile(join(dir, 'pod.yaml'), POD);
    expect(await bash('gpugate review <(cat pod.yaml)')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 would be denied'),
    });
  });

  it('passes over pipes in a folder', async () => {
    await mkdir(join(dir, 'all'));
    await bash('mkfifo all/pipe.yaml');
    await writeFile(join(dir, 'all/pod.yaml'), POD);
    expect(await bash('gpugate review all')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('1 object: 1 would be denied'),
    });
  });

  it.each([
    ['latin1', Buffer.from(POD, 'latin1')],
    ['utf16le', Buffer.from(`\uFEFF${POD}`, 'utf16le')],
  ])('does not take %s for a file without problems, nor writes into it', async (_, bytes) => {
    await writeFile(join(dir, 'pod.yaml'), bytes);
    expect(await bash('gpugate review --fix pod.yaml')).toMatchObject({
      code: 3,
      stderr: 'gpugate: pod.yaml: it is not UTF-8; save it as UTF-8\n',
    });
    expect(await readFile(join(dir, 'pod.yaml'))).toEqual(bytes);
  });

  it('fixes a file with a byte order mark and Windows line ends as any other', async () => {
    const windows = (text: string) => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
    await writeFile(join(dir, 'pod.yaml'), windows(POD));
    expect(await bash('gpugate review --fix pod.yaml')).toMatchObject({ code: 0 });
    expect(await readFile(join(dir, 'pod.yaml'), 'utf8')).toBe(windows(FIXED));
  });

  describe.each<[string, (text: string) => string]>([
    ['as it should be', (text) => text],
    ['with a byte order mark', (text) => `\uFEFF${text}`],
    ['with Windows line ends', (text) => text.replaceAll('\n', '\r\n')],
    ['with both', (text) => `\uFEFF${text.replaceAll('\n', '\r\n')}`],
    ['without a line end', (text) => text.trimEnd()],
  ])('of a file %s', (_, spelt) => {
    const short = `{ apiVersion: v1, kind: Pod, metadata: { name: a }, spec: { containers: [{ name: a, image: a,
    resources: { requests: { nvidia.com/gpu: 1 } } }] } }
`;
    const fixed = short.replace('} } }]', '}, limits: { nvidia.com/gpu: 1 } } }]');
    const renamed = fixed.replaceAll('nvidia.com/gpu', 'nvidia.com/mig-1g.10gb');

    it.each(['git apply', 'patch -p1 --fuzz=0'])('%s takes the patch and what --dry-run shows', async (apply) => {
      await writeFile(join(dir, 'pod.yaml'), spelt(short));
      expect(await bash(`gpugate review --fix --dry-run pod.yaml > fix.patch; ${apply} < fix.patch`)).toMatchObject({
        code: 0,
      });
      expect(await readFile(join(dir, 'pod.yaml'), 'utf8')).toBe(spelt(fixed));
      const change =
        'gpugate review pod.yaml -o patch --namespace-label gpugate.dev/mig-profile=1g.10gb > change.patch';
      expect(await bash(`${change} && ${apply} < change.patch`)).toMatchObject({ code: 0 });
      const after = await readFile(join(dir, 'pod.yaml'), 'utf8');
      expect(after.replace(/, annotations: .*'"? \}(?= \})/, '')).toBe(spelt(renamed));
    });
  });

  it('leaves a file whole that it cannot write to its end', async () => {
    const long = `${POD}${'# and more\n'.repeat(500)}`;
    await writeFile(join(dir, 'pod.yaml'), long);
    expect(await bash('ulimit -f 1; gpugate review --fix pod.yaml')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('pod.yaml cannot be written: a file may not be so large'),
    });
    expect(await readFile(join(dir, 'pod.yaml'), 'utf8')).toBe(long);
    expect(await readdir(dir)).toEqual(['pod.yaml']);
  });

  it('that nobody reads to its end does not end as a clean one', async () => {
    const pods = Array.from({ length: 500 }, () => POD).join('---\n');
    await writeFile(join(dir, 'pods.yaml'), pods);
    expect(await bash('set -o pipefail; gpugate review pods.yaml | head -n 1')).toMatchObject({ code: 141 });
  });
});

describe('what objects of two namespaces share by an anchor', () => {
  const AROUND = `apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: { name: slices }
spec: { sharing: mig, mig: { profile: 1g.10gb } }
---
apiVersion: v1
kind: Namespace
metadata: { name: with, labels: { gpugate.dev/policy: slices } }
---
apiVersion: v1
kind: Namespace
metadata: { name: without }
`;
  const listOf = (namespaces: readonly string[], resources: string) => `apiVersion: v1
kind: List
items:
${namespaces
  .map(
    (namespace, index) => `  - apiVersion: v1
    kind: Pod
    metadata: { name: pod, namespace: ${namespace} }
    spec:
      containers:
        - name: c
          image: x
          resources: ${index === 0 ? `&gpu # for both${resources}` : '*gpu'}
`,
  )
  .join('')}`;
  const LIMITS = '\n            limits:\n              nvidia.com/gpu: 1';
  const REQUESTS = '\n            requests:\n              nvidia.com/gpu: 1';
  const ORDERS = [
    ['with', 'without'],
    ['without', 'with'],
    ['with', 'kube-system'],
    ['kube-system', 'with'],
  ] as const;

  describe.each(ORDERS)('the anchor in %s, the alias in %s', (...namespaces) => {
    const line = 4 + 8 * namespaces.indexOf('with') + (namespaces[0] === 'with' ? 0 : 2);

    it.each([
      ['--mutated', LIMITS],
      ['--fix-policy', LIMITS],
      ['--fix', REQUESTS],
      ['--fix --fix-policy', REQUESTS],
    ])('stays as it is, and what was not written is told: %s', async (flags, resources) => {
      const text = listOf(namespaces, resources);
      await writeFile(join(dir, 'around.yaml'), AROUND);
      await writeFile(join(dir, 'list.yaml'), text);
      const ended = await bash(`gpugate review list.yaml around.yaml ${flags}`);
      expect(await readFile(join(dir, 'list.yaml'), 'utf8')).toBe(text);
      if (flags === '--mutated') expect(ended.stdout.startsWith(text)).toBe(true);
      const said = ended.stdout + ended.stderr;
      expect(said).toMatch(/list.yaml:\d+:\d+: (its text is left as it is|GPU004 is not fixed): what would be changed/);
    });

    it('-o patch changes nothing of it', async () => {
      await writeFile(join(dir, 'around.yaml'), AROUND);
      await writeFile(join(dir, 'list.yaml'), listOf(namespaces, LIMITS));
      const { stdout, stderr } = await bash('gpugate review list.yaml around.yaml -o patch');
      expect(stdout).toBe('');
      expect(stderr).toContain(`gpugate: list.yaml:${line}:5: its text is left as it is`);
    });
  });
});
