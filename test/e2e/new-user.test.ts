import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/bundle.ts';
import { binaries } from '../cluster/binaries.ts';
import { helmFor, mustHelm } from '../cluster/helm.ts';
import { preCommit } from './new-user/pre-commit.ts';
import { runWorkflow } from './new-user/workflow.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WORKFLOW = '.github/workflows/gpus.yaml';

let dir: string;
let repository: string;
let env: NodeJS.ProcessEnv;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[], cwd = repository): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
    });
  });
}

async function must(command: string, args: readonly string[], cwd = repository): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, cwd);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${code}\n${stderr}${stdout}`);
  return stdout;
}

/** The files of this repository as Git knows them, with what is not committed yet. */
async function checkout(folder: string): Promise<void> {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => name !== '')) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(join(ROOT, file), join(folder, file)).catch(() => undefined);
  }
}

async function commit(folder: string): Promise<string> {
  await must('git', ['init', '--quiet'], folder);
  await must('git', ['add', '--all'], folder);
  const identity = ['-c', 'user.name=New User', '-c', 'user.email=new-user@example.com'];
  await must('git', [...identity, 'commit', '--quiet', '--message', 'as it is'], folder);
  return (await must('git', ['rev-parse', 'HEAD'], folder)).trim();
}

/** Renders the chart into the manifests, after a change of its template. */
async function render(change: (template: string) => string): Promise<void> {
  const template = join(repository, 'chart/templates/deployment.yaml');
  await writeFile(template, change(await readFile(template, 'utf8')));
  const helm = await helmFor(dir);
  const chart = join(repository, 'chart');
  await writeFile(
    join(repository, 'manifests/infer.yaml'),
    await mustHelm(helm, ['template', 'infer', chart, '-n', 'team-a']),
  );
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-new-user-'));
  repository = join(dir, 'repository');
  await cp(join(ROOT, 'examples/repository'), repository, { recursive: true });
  // As an installation leaves it: two commands on the PATH that are links to the bundle.
  await bundle({ dir: join(dir, 'dist') });
  await mkdir(join(dir, 'bin'));
  for (const name of ['gpugate', 'kubectl-gpugate'])
    await symlink(join(dir, 'dist/gpugate.js'), join(dir, 'bin', name));
  const path = [join(dir, 'bin'), dirname(process.execPath), process.env.PATH];
  env = { ...process.env, PATH: path.join(delimiter), PRE_COMMIT_HOME: join(dir, 'pre-commit'), NO_COLOR: '1' };
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe('a new user, with the repository of examples/', () => {
  it('has a chart whose output is broken: CI and the hook are red, --fix mends it, both are green', async () => {
    // The hooks of this repository, from a repository of their own since that must be a commit.
    const hooks = join(dir, 'hooks');
    await mkdir(hooks);
    await cp(join(ROOT, '.pre-commit-hooks.yaml'), join(hooks, '.pre-commit-hooks.yaml'));
    const rev = await commit(hooks);
    const config = join(repository, '.pre-commit-config.yaml');
    const written = await readFile(config, 'utf8');
    await writeFile(config, written.replace(/repo: .*/, `repo: ${hooks}`).replace(/rev: .*/, `rev: ${rev}`));
    const hook = await preCommit();

    const before = await readFile(join(repository, 'manifests/infer.yaml'), 'utf8');
    await render((template) => template);
    expect(await readFile(join(repository, 'manifests/infer.yaml'), 'utf8')).toBe(before);
    await render((template) => template.replace('limits:', 'requests:'));
    await commit(repository);

    const red = await runWorkflow(repository, WORKFLOW, checkout);
    expect(red.failed, red.output).toBe('What would the webhook do with the manifests?');
    expect(red.output).toMatch(/manifests\/infer\.yaml:\d+:\d+: error GPU004 Deployment team-a\/infer/);
    const stopped = await run(hook, ['run', '--all-files']);
    expect(stopped.stdout).toMatch(/gpugate review\.+Failed[\s\S]*GPU004[\s\S]*gpugate test\.+Passed/);
    expect(stopped.code).toBe(1);

    await must('gpugate', ['review', 'manifests', 'cluster', 'policies', '--fix']);
    expect(await must('git', ['diff', '--stat'])).toContain('manifests/infer.yaml | 2 ++');

    const passed = await run(hook, ['run', '--all-files']);
    expect(passed.stdout).toMatch(/gpugate review\.+Passed[\s\S]*gpugate test\.+Passed/);
    const green = await runWorkflow(repository, WORKFLOW, checkout);
    expect(green.failed, green.output).toBeUndefined();
    const reports = ['review.xml', 'scenarios.xml'].map((file) => readFile(join(repository, file), 'utf8'));
    expect(await Promise.all(reports)).toEqual(Array(2).fill(expect.stringContaining('failures="0"')));
  }, 600_000);

  it('calls it as a plugin of kubectl', async () => {
    const { kubectl } = await binaries(() => undefined);
    expect(await must(kubectl, ['plugin', 'list'])).toContain(`${join(dir, 'bin')}/kubectl-gpugate\n`);
    const review = ['review', 'cluster', 'policies', 'scenarios/a-whole-gpu-becomes-a-slice/input.yaml'];
    expect(await run(kubectl, ['gpugate', ...review])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('GPU110'),
    });
    const wrong = await run(kubectl, ['gpugate', 'rulse']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('(see kubectl gpugate --help)') });
  });
});
