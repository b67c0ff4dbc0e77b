import { Command } from 'commander';
import { VERSION } from './commands/version.ts';

interface Verb {
  /** Heading of the help under which it stands. */
  readonly group: string;
  readonly about: string;
  /** Adds arguments, flags and the action. */
  readonly load: () => Promise<{ configure(command: Command): void }>;
}

const REPOSITORY = 'Manifests and policies:';
const CLUSTER = 'A cluster:';
const WEBHOOK = 'The webhook:';
const REFERENCE = 'To look up:';

// Only the verb that is asked for is loaded: `serve` must start fast, and no other verb should load a server.
const VERBS: Readonly<Record<string, Verb>> = {
  review: {
    group: REPOSITORY,
    about: 'what the webhook would do with manifests',
    load: () => import('./commands/review.ts'),
  },
  test: {
    group: REPOSITORY,
    about: 'run scenarios: what your policies make of your manifests',
    load: () => import('./commands/test.ts'),
  },
  explain: {
    group: CLUSTER,
    about: 'why a pod is Pending, layer by layer',
    load: () => import('./commands/explain.ts'),
  },
  audit: {
    group: CLUSTER,
    about: 'what lives in a cluster and would be refused today',
    load: () => import('./commands/audit.ts'),
  },
  doctor: {
    group: CLUSTER,
    about: 'whether the webhook itself is well',
    load: () => import('./commands/doctor.ts'),
  },
  serve: {
    group: WEBHOOK,
    about: 'answer admission reviews over HTTPS',
    load: () => import('./commands/serve.ts'),
  },
  manifests: {
    group: WEBHOOK,
    about: 'print the webhook configurations',
    load: () => import('./commands/manifests.ts'),
  },
  'install-crd': {
    group: WEBHOOK,
    about: 'add the GpuPolicy resource to a cluster, or bring it up to date',
    load: () => import('./commands/install-crd.ts'),
  },
  unregister: {
    group: WEBHOOK,
    about: 'remove the webhook configurations from a cluster',
    load: () => import('./commands/unregister.ts'),
  },
  rules: {
    group: REFERENCE,
    about: 'list the codes, or explain one',
    load: () => import('./commands/rules.ts'),
  },
  boards: {
    group: REFERENCE,
    about: 'list the GPU boards with MIG and their profiles',
    load: () => import('./commands/boards.ts'),
  },
  completion: {
    group: REFERENCE,
    about: 'print a completion script for a shell',
    load: () => import('./commands/completion.ts'),
  },
  version: {
    group: REFERENCE,
    about: 'print the version',
    load: () => import('./commands/version.ts'),
  },
};

/**
 * The command line, with the arguments and flags of those verbs that are named in `loaded`.
 * The name is what people type: `kubectl gpugate` when kubectl has found it on the PATH as a plugin.
 */
export async function program(loaded: readonly string[], name = 'gpugate'): Promise<Command> {
  const root = new Command(name)
    .description(
      'Admission control for GPU pods in Kubernetes: as a webhook, and before and after it on the command line.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .exitOverride()
    // A flag belongs to the words before it, also where a verb and its own verb have one of the same name.
    .enablePositionalOptions()
    .showHelpAfterError(`(see ${name} --help)`);
  for (const [verb, { group, about, load }] of Object.entries(VERBS)) {
    const command = root.command(verb).helpGroup(group).summary(about).description(about);
    if (loaded.includes(verb)) (await load()).configure(command);
    seeOwnHelp(command, `${name} ${verb}`);
  }
  root.addHelpText('after', EXAMPLES);
  return root;
}

/** What is wrong with the words of a verb is looked up in its own help. */
function seeOwnHelp(command: Command, name: string): void {
  command.showHelpAfterError(`(see ${name} --help)`);
  for (const own of command.commands) seeOwnHelp(own as Command, `${name} ${own.name()}`);
}

const EXAMPLES = `
Examples:
  gpugate review deploy/                  what the webhook would do with these manifests
  gpugate explain train-0 -n team-a       why a pod is Pending
  gpugate rules explain GPU002            what a code means, and how to fix it
  gpugate audit --help                    more of one verb

Exit codes of every verb: 0 clean, 1 something would be refused, 2 wrong use, 3 a file can't be read,
4 the cluster or gpugate itself failed, 124 not in time.`;

/** The command line with everything in it, for what is made from it. */
export function wholeProgram(): Promise<Command> {
  return program(Object.keys(VERBS));
}

/** The verb of a command line, where it has one. */
export function verbOf(args: readonly string[]): string | undefined {
  const [first, second] = args;
  return first === 'help' ? second : first;
}
