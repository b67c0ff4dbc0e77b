import { Command } from 'commander';
import { VERSION } from './commands/version.ts';

interface Verb {
  readonly about: string;
  /** Adds arguments, flags and the action. */
  readonly load: () => Promise<{ configure(command: Command): void }>;
}

// Only the verb that is asked for is loaded: `serve` must start fast, and no other verb should load a server.
const VERBS: Readonly<Record<string, Verb>> = {
  serve: { about: 'answer admission reviews over HTTPS', load: () => import('./commands/serve.ts') },
  manifests: { about: 'print the webhook configurations', load: () => import('./commands/manifests.ts') },
  review: { about: 'what the webhook would do with manifests', load: () => import('./commands/review.ts') },
  test: { about: 'run scenarios: what your policies make of your manifests', load: () => import('./commands/test.ts') },
  explain: { about: 'why a pod is Pending, layer by layer', load: () => import('./commands/explain.ts') },
  doctor: { about: 'whether the webhook itself is well', load: () => import('./commands/doctor.ts') },
  audit: { about: 'what lives in a cluster and would be refused today', load: () => import('./commands/audit.ts') },
  rules: { about: 'list the codes, or explain one', load: () => import('./commands/rules.ts') },
  boards: { about: 'list the GPU boards with MIG and their profiles', load: () => import('./commands/boards.ts') },
  completion: { about: 'print a completion script for a shell', load: () => import('./commands/completion.ts') },
  'install-crd': {
    about: 'add the GpuPolicy resource to a cluster, or bring it up to date',
    load: () => import('./commands/install-crd.ts'),
  },
  unregister: {
    about: 'remove the webhook configurations from a cluster',
    load: () => import('./commands/unregister.ts'),
  },
  version: { about: 'print the version', load: () => import('./commands/version.ts') },
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
  for (const [verb, { about, load }] of Object.entries(VERBS)) {
    const command = root.command(verb).summary(about).description(about);
    if (loaded.includes(verb)) (await load()).configure(command);
  }
  root.addHelpText('after', EXAMPLES);
  return root;
}

const EXAMPLES = `
Examples:
  gpugate rules explain GPU002                  what a code means, and how to fix it
  gpugate test scenarios                        run the scenarios of a folder
  gpugate test --help                           more of one verb

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
