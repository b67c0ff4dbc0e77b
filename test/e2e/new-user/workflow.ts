import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly run?: string;
}

/** How a run of a workflow ended: the step that failed, if one did, and all that was printed. */
export interface Run {
  readonly failed?: string;
  readonly output: string;
}

/**
 * Runs the steps of a GitHub workflow of one job in a repository, as a runner would: each `run` by bash, with what earlier steps
 * have put on GITHUB_PATH. `checkout` stands in for actions/checkout of another repository, by the folder it goes to.
 * @throws for an action that it does not know.
 */
export async function runWorkflow(
  repository: string,
  file: string,
  checkout: (folder: string) => Promise<void>,
): Promise<Run> {
  const { jobs } = parse(await readFile(join(repository, file), 'utf8')) as {
    jobs: Record<string, { steps: readonly Step[] }>;
  };
  const [job, ...others] = Object.values(jobs);
  if (!job || others.length > 0) throw new Error(`${file} has not one job`);
  const runner = await mkdtemp(`${repository}-runner-`);
  const pathFile = join(runner, 'path');
  await writeFile(pathFile, '');
  let output = '';
  for (const [index, step] of job.steps.entries()) {
    if (step.run === undefined) {
      await use(step, repository, checkout);
      continue;
    }
    const script = join(runner, `step-${index}`);
    await writeFile(script, step.run);
    const added = (await readFile(pathFile, 'utf8')).split('\n').filter((line) => line !== '');
    const temp = join(runner, 'temp');
    await mkdir(temp, { recursive: true });
    const ended = await bash(script, repository, {
      GITHUB_PATH: pathFile,
      RUNNER_TEMP: temp,
      PATH: [...added.reverse(), process.env.PATH].join(':'),
    });
    output += ended.output;
    // GitHub's default for bash is `bash -e`.
    if (ended.code !== 0) return { failed: step.name ?? step.run, output };
  }
  return { output };
}

async function use(step: Step, repository: string, checkout: (folder: string) => Promise<void>): Promise<void> {
  const [action] = (step.uses ?? '').split('@');
  const path = step.with?.path;
  // The repository is there already, and so is Node.
  if ((action === 'actions/checkout' && path === undefined) || action === 'actions/setup-node') return;
  if (action !== 'actions/checkout') throw new Error(`what ${step.uses} does is not known here`);
  await checkout(join(repository, String(path)));
}

async function bash(script: string, cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn('bash', ['-e', script], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
  const [code, stdout, stderr] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { code, output: stdout + stderr };
}
