import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import dockerignore from '@balena/dockerignore';
import {
  type Copy,
  DockerfileParser,
  type Instruction,
  type JSONInstruction,
  type PropertyInstruction,
} from 'dockerfile-ast';

/** What an image is made of: the files of its last stage without those of the base image, and how it starts. */
export interface Image {
  /** Folder that stands for `/`. */
  readonly root: string;
  readonly base: string;
  readonly stages: number;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly ports: readonly string[];
}

interface Stage {
  readonly root: string;
  base: string;
  workdir: string;
  user: string;
  readonly env: Record<string, string>;
  readonly labels: Record<string, string>;
  entrypoint: readonly string[];
  command: readonly string[];
  ports: readonly string[];
}

/**
 * Does what the Dockerfile of a checkout says, without a container engine: each stage is a folder, RUN is run in it with the Node
 * and the npm of this machine in the place of the base image's, and the context is what .dockerignore lets through.
 * @throws for an instruction that it does not know, so that none is passed over.
 */
export function buildImage(checkout: string, scratch: string, args: Readonly<Record<string, string>> = {}): Image {
  const dockerfile = DockerfileParser.parse(readFileSync(join(checkout, 'Dockerfile'), 'utf8'));
  const context = contextOf(checkout, join(scratch, 'context'));
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const instruction of dockerfile.getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const [base = '', , name = String(stages.size)] = argumentsOf(instruction);
      stage = newStage(base, mkdtempSync(join(scratch, `stage-${name}-`)));
      stages.set(name, stage);
    } else if (stage) apply(instruction, stage, { context, stages, args });
  }
  if (!stage) throw new Error('the Dockerfile has no FROM');
  return { ...stage, stages: stages.size };
}

function newStage(base: string, root: string): Stage {
  return { root, base, workdir: '/', user: 'root', env: {}, labels: {}, entrypoint: [], command: [], ports: [] };
}

interface Build {
  readonly context: string;
  readonly stages: ReadonlyMap<string, Stage>;
  readonly args: Readonly<Record<string, string>>;
}

function apply(instruction: Instruction, stage: Stage, build: Build): void {
  const words = argumentsOf(instruction);
  switch (instruction.getKeyword()) {
    case 'WORKDIR':
      stage.workdir = words[0] ?? '/';
      mkdirSync(inside(stage, stage.workdir), { recursive: true });
      return;
    case 'ARG': {
      const [name = '', standard = ''] = (words[0] ?? '').split('=');
      stage.env[name] = build.args[name] ?? standard;
      return;
    }
    case 'ENV':
      Object.assign(stage.env, properties(instruction as PropertyInstruction, stage.env));
      return;
    case 'LABEL':
      Object.assign(stage.labels, properties(instruction as PropertyInstruction, stage.env));
      return;
    case 'COPY':
      copy(words, (instruction as Copy).getFromFlag()?.getValue() ?? undefined, stage, build);
      return;
    case 'RUN':
      execFileSync('sh', ['-c', words.join(' ')], {
        cwd: inside(stage, stage.workdir),
        env: { ...process.env, ...stage.env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      return;
    case 'USER':
      stage.user = words[0] ?? '';
      return;
    case 'EXPOSE':
      stage.ports = words;
      return;
    case 'ENTRYPOINT':
      stage.entrypoint = jsonOf(instruction as JSONInstruction);
      return;
    case 'CMD':
      stage.command = jsonOf(instruction as JSONInstruction);
      return;
    default:
      throw new Error(`what ${instruction.getKeyword()} does is not known here`);
  }
}

/** COPY takes the contents of a folder, not the folder; a target that ends with a slash is a folder. */
function copy(paths: readonly string[], from: string | undefined, stage: Stage, { context, stages }: Build): void {
  const target = paths.at(-1) ?? '';
  const source = from === undefined ? context : stages.get(from)?.root;
  if (source === undefined) throw new Error(`no stage is called ${from}`);
  for (const path of paths.slice(0, -1)) {
    const file = join(source, path);
    const to = inside(stage, target.startsWith('/') ? target : join(stage.workdir, target));
    const isFolder = statSync(file).isDirectory();
    const place = isFolder || !/[/.]$/.test(target) ? to : join(to, path.split('/').at(-1) ?? '');
    mkdirSync(dirname(place), { recursive: true });
    cpSync(file, place, { recursive: true });
  }
}

function contextOf(checkout: string, context: string): string {
  const ignored = dockerignore.default().add(readFileSync(join(checkout, '.dockerignore'), 'utf8'));
  for (const entry of readdirSync(checkout, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(checkout, file);
    if (!entry.isFile() || ignored.ignores(path)) continue;
    mkdirSync(dirname(join(context, path)), { recursive: true });
    cpSync(file, join(context, path));
  }
  return context;
}

const inside = (stage: Stage, path: string) => join(stage.root, path);
const argumentsOf = (instruction: Instruction) => instruction.getArguments().map((argument) => argument.getValue());
const jsonOf = (instruction: JSONInstruction): readonly string[] =>
  instruction.getJSONStrings().map((text) => JSON.parse(text.getValue()));

function properties(instruction: PropertyInstruction, variables: Readonly<Record<string, string>>) {
  const pairs = instruction.getProperties().map((property) => {
    const value = property.getValue() ?? '';
    return [property.getName(), value.replace(/\$\{(\w+)\}/g, (_, name: string) => variables[name] ?? '')] as const;
  });
  return Object.fromEntries(pairs);
}
