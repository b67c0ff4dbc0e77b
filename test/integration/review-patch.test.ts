import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

// The patch of a review, applied by those who apply patches.

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const SLICES = '--namespace-label gpugate.dev/sharing=mig --namespace-label gpugate.dev/mig-profile=1g.10gb';
const POD = `apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
    - name: train
      image: registry.example/train:1
      resources:
        limits:
          nvidia.com/gpu: 1 # the whole of it
`;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-patch-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Runs a command of bash in a folder, with `gpugate` as a function. */
function bash(command: string, cwd = dir): Promise<{ code: number; stdout: string; stderr: string }> {
  const script = `gpugate() { "${process.execPath}" "${MAIN}" "$@"; }\n${command}`;
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await writeFile(join(dir, file), text);
  }
}

describe.each(['git apply', 'patch -s -p1 -i'])('%s', (apply) => {
  it.each([
    ['a space', 'my pods/pod one.yaml'],
    ['letters beyond ASCII', 'é/größe.yaml'],
    ['a quote and a backslash', 'a"b\\c.yaml'],
    ['a line break', 'a\nb.yaml'],
    ['a space and a tab', 'a b\tc.yaml'],
  ])('takes the name of a file with %s', async (_, file) => {
    await write({ [file]: POD });
    const applied = await bash(
      `gpugate review . -o patch ${SLICES} > ../$$.patch; ${apply} ../$$.patch; code=$?; rm ../$$.patch; exit $code`,
    );
    expect(applied).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(join(dir, file), 'utf8')).toContain('nvidia.com/mig-1g.10gb: 1 # the whole of it');
  });

  it.each([
    ['an absolute path', '"$PWD/pod.yaml"'],
    ['a path that goes out and in again', '"../$(basename "$PWD")/./pod.yaml"'],
  ])('takes %s of a file in this folder', async (_, path) => {
    await write({ 'pod.yaml': POD });
    const made = await bash(`gpugate review ${path} -o patch ${SLICES} > p && ${apply} p`);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(join(dir, 'pod.yaml'), 'utf8')).toContain('nvidia.com/mig-1g.10gb: 1');
  });

  it('takes the rest where a file lies outside of this folder, which is told', async () => {
    await write({ 'here/pod.yaml': POD, 'é.yaml': POD });
    const made = await bash(`gpugate review pod.yaml ../é.yaml -o patch ${SLICES} > p; ${apply} p`, join(dir, 'here'));
    expect(made).toEqual({
      code: 0,
      stdout: '',
      stderr:
        'gpugate: ../é.yaml: is left out of the patch, since it lies outside of this folder; run gpugate where the patch is to be applied\n',
    });
    expect(await readFile(join(dir, 'here/pod.yaml'), 'utf8')).toContain('nvidia.com/mig-1g.10gb: 1');
    expect(await readFile(join(dir, 'é.yaml'), 'utf8')).toBe(POD);
  });

  it('takes the patch of one file with many objects, some of which change', async () => {
    const plain = POD.slice(0, POD.indexOf('      resources:'));
    const text = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? POD : plain)).join('---\n');
    await write({ 'pods.yaml': text });
    const made = await bash(
      `gpugate review . -o patch ${SLICES} > p; gpugate review . --mutated ${SLICES} 2> /dev/null > q; ${apply} p`,
    );
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const patched = await readFile(join(dir, 'pods.yaml'), 'utf8');
    expect(patched).toBe(await readFile(join(dir, 'q'), 'utf8'));
    expect(patched.match(/mig-1g\.10gb: 1 #/g)).toHaveLength(20);
  });
});
