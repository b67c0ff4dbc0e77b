import { Command } from 'commander';

interface Verb {
  readonly about: string;
  /** Adds arguments, flags and the action. */
  readonly load: () => Promise<{ configure(command: Command): void }>;
}

// Only the verb that is asked for is loaded: `serve` must start fast, and no other verb should load a server.
const VERBS: Readonly<Record<string, Verb>> = {
  serve: { about: 'answer admission reviews over HTTPS', load: () => import('./commands/serve.ts') },
  manifests: { about: 'print the webhook configurations', load: () => import('./commands/manifests.ts') },
  test: { about: 'run scenarios: what your policies make of your manifests', load: () => import('./commands/test.ts') },
  version: { about: 'print the version', load: () => import('./commands/version.ts') },
};

/**
 * The command line, with the arguments and flags of those verbs that are named in `loaded`.
 * The name is what people type: `kubectl gpugate` when kubectl has found it on the PATH as a plugin.
 */
export async function program(loaded: readonly string[], name = 'gpugate'): Promise<Command> {
  const root = new Command(name)
    .description('Kubernetes admission control for GPU pods')
    .exitOverride()
    .showHelpAfterError(`(see ${name} --help)`);
  for (const [verb, { about, load }] of Object.entries(VERBS)) {
    const command = root.command(verb).summary(about).description(about);
    if (loaded.includes(verb)) (await load()).configure(command);
  }
  return root;
}

/** The verb of a command line, where it has one. */
export function verbOf(args: readonly string[]): string | undefined {
  const [first, second] = args;
  return first === 'help' ? second : first;
}
