import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { readGiven } from '../files/unread.ts';
import { type NewScenario, newScenarios } from '../scenarios/init.ts';
import { openScenario, type Shared } from '../scenarios/open.ts';
import { type Outcome, outcomeOf } from '../scenarios/outcome.ts';
import { firstExpected } from '../scenarios/write.ts';
import type { Webhook } from '../server/judge.ts';
import { EXIT, failure } from './exit.ts';
import { written } from './output.ts';
import { orInput } from './sources.ts';

interface Options extends Shared {
  readonly dir: string;
}

/** `gpugate test init`: scenarios from a manifest, which expect what comes out today. */
export function configureInit(command: Command): void {
  command
    .summary('make scenarios from a manifest')
    .description(
      'Makes a scenario for every Pod and workload of a manifest, as it is judged today. Read expected.yaml, and change what should be otherwise. ' +
        "GpuPolicies, Namespaces, Nodes and the like in the same manifest go into the scenario's files. Nothing is overwritten.",
    )
    .argument('<manifest>', 'YAML or JSON file, - for standard input')
    .option('--dir <folder>', 'where the scenarios go', 'scenarios')
    .option('--policies <path>', 'GpuPolicies, a file or a folder; give the same to `gpugate test`')
    .option('--namespaces <file>', 'Namespaces; give the same to `gpugate test`')
    .option('--nodes <file>', 'Nodes; give the same to `gpugate test`')
    .addHelpText(
      'after',
      `
Examples:
  gpugate test init pod.yaml
  gpugate test init deployment.yaml --policies policies/ --namespaces namespaces.yaml
  helm template . | gpugate test init - --dir test/scenarios`,
    )
    .action(init);
}

async function init(manifest: string, options: Options): Promise<void> {
  if (manifest === '') throw failure(EXIT.usage, 'a path is empty; give a file, or - for standard input');
  const name = manifest === '-' ? 'standard input' : manifest;
  const scenarios = await orInput(
    (manifest === '-' ? text(process.stdin) : readGiven(manifest)).then((yaml) => newScenarios(name, yaml)),
  );
  if (scenarios.length === 0) throw failure(EXIT.input, `${name} has no Pod and no workload that gpugate judges`);
  for (const scenario of scenarios) await make(scenario, options);
  const shared = (['policies', 'namespaces', 'nodes'] as const)
    .filter((flag) => options[flag] !== undefined)
    .map((flag) => ` --${flag} ${options[flag]}`);
  process.stdout.write(`\nRun them:\n  gpugate test ${options.dir}${shared.join('')}\n`);
}

async function make({ name, files }: NewScenario, options: Options): Promise<void> {
  const folder = join(options.dir, name);
  await newFolder(options.dir, folder);
  for (const [file, content] of Object.entries(files)) {
    if (file === 'namespace.yaml' && options.namespaces !== undefined) continue;
    await written(join(folder, file), writeFile(join(folder, file), content));
  }
  const scenario = await orInput(openScenario(folder, undefined, options));
  const { webhook, outcome } = await telling((asked) => outcomeOf(scenario, asked));
  const description = `${scenario.input.kind} ${scenario.input.metadata?.name ?? ''}`.trim();
  const expected = join(folder, 'expected.yaml');
  await written(expected, writeFile(expected, firstExpected({ description, webhook }, outcome)));
  process.stdout.write(`${folder}: ${told(outcome)}\n`);
}

async function newFolder(dir: string, folder: string): Promise<void> {
  await written(dir, mkdir(dir, { recursive: true }));
  const made = mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw failure(EXIT.usage, `${folder} is already there; remove it, or choose another --dir`);
  });
  await written(folder, made);
}

/** Of a workload, the mutating webhook only tells what must not be stored; where it is silent, the preview says more. */
async function telling(ask: (webhook: Webhook) => Promise<Outcome>): Promise<{ webhook: Webhook; outcome: Outcome }> {
  const outcome = await ask('mutate');
  const { judgement, findings, changes } = outcome;
  const silent = judgement.answer.allowed && findings.length === 0 && changes.length === 0;
  const preview = silent ? await ask('validate') : outcome;
  const more = preview.findings.length + preview.changes.length > 0;
  return more && silent ? { webhook: 'validate', outcome: preview } : { webhook: 'mutate', outcome };
}

function told({ judgement, findings, changes }: Outcome): string {
  const codes = [...new Set([...findings.map(({ code }) => code), ...changes])];
  return `${judgement.answer.allowed ? 'allowed' : 'refused'}${codes.length > 0 ? `, ${codes.join(', ')}` : ''}`;
}
