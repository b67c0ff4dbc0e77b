import type { Command } from 'commander';

/** A place in the command line, as completion sees it: the words typed so far, and what may come next. */
export interface Place {
  /** `rules explain`; empty for gpugate itself. */
  readonly words: string;
  readonly commands: readonly Named[];
  readonly options: readonly CompletedOption[];
  /** Values of the first argument that has a list of them. */
  readonly values: readonly string[];
  /** An argument may be the path of a file. */
  readonly takesFiles: boolean;
}

interface Named {
  readonly name: string;
  readonly about: string;
}

interface CompletedOption extends Named {
  /** `-o`, where there is one. */
  readonly short?: string;
  readonly takesValue: boolean;
  readonly values: readonly string[];
}

/** Every place of a command line, the top first. */
export function placesOf(command: Command, before: readonly string[] = []): readonly Place[] {
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help');
  const args = command.registeredArguments;
  return [
    {
      words: before.join(' '),
      commands: visible.map((child) => ({ name: child.name(), about: aboutOf(child.summary()) })),
      options: [...command.options.filter(({ hidden }) => !hidden).map(optionOf), HELP],
      values: args.flatMap(({ argChoices }) => argChoices ?? []),
      takesFiles: args.some(({ argChoices }) => argChoices === undefined),
    },
    ...visible.flatMap((child) => placesOf(child, [...before, child.name()])),
  ];
}

const HELP: CompletedOption = { name: '--help', short: '-h', about: 'how to use it', takesValue: false, values: [] };

function optionOf({
  long,
  short,
  description,
  required,
  optional,
  argChoices,
}: Command['options'][number]): CompletedOption {
  return {
    name: long ?? short ?? '',
    ...(long === undefined || short === undefined ? {} : { short }),
    about: aboutOf(description),
    takesValue: required || optional,
    values: argChoices ?? [],
  };
}

/** One line without characters that a shell would read in quotes. */
function aboutOf(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/[`'"\\$]/g, '');
}
