import { type Command, Option } from 'commander';
import { BOARDS, type Board, normalProfile, profileProblem } from '../policy/boards.ts';
import { table } from '../report/table.ts';
import { EXIT, failure } from './exit.ts';

/** `gpugate boards`: the MIG boards that are known, and their profiles. */
export function configure(command: Command): void {
  command
    .description('Lists the GPU boards with MIG that gpugate knows. With a profile or a board, its profiles in detail.')
    .argument(
      '[what...]',
      'a MIG profile, a part of the name of a board, or the label nvidia.com/gpu.product of a node',
    )
    .addOption(new Option('-o, --output <format>', 'how to print them').choices(['table', 'json']).default('table'))
    .addHelpText(
      'after',
      `
Examples:
  gpugate boards                           every board
  gpugate boards 1g.10gb                   the boards that have this profile
  gpugate boards NVIDIA-A100-SXM4-40GB     the profiles of this board
  gpugate boards h100 -o json`,
    )
    .action((what: readonly string[], { output }: { output: 'table' | 'json' }) => {
      const profiles = what.length === 0 ? BOARDS.flatMap((board) => rowsOf(board)) : what.flatMap(asked);
      if (output === 'json') process.stdout.write(`${JSON.stringify(profiles, null, 2)}\n`);
      else process.stdout.write(what.length === 0 ? boardTable() : profileTable(profiles));
    });
}

type Row = ReturnType<typeof rowsOf>[number];

function rowsOf({ names, profiles }: Board) {
  return profiles.map((profile) => ({
    board: names[0] ?? '',
    ...profile,
    resource: `nvidia.com/mig-${profile.profile}`,
  }));
}

function asked(what: string): readonly Row[] {
  const profile = normalProfile(what);
  const byProfile = BOARDS.flatMap((board) => rowsOf(board)).filter((row) => row.profile === profile);
  if (byProfile.length > 0) return byProfile;
  const named = ({ names, match }: Board) =>
    match.some((pattern) => pattern.test(what)) ||
    names.some((name) => name.toLowerCase().includes(what.toLowerCase()));
  const byBoard = BOARDS.filter(named).flatMap((board) => rowsOf(board));
  if (byBoard.length > 0) return byBoard;
  const looksLikeProfile = /^(\d+c\.)?\d+g\./.test(profile);
  const problem = looksLikeProfile
    ? `${profile} ${profileProblem(profile)}`
    : `no known board with MIG is called ${what}`;
  throw failure(EXIT.usage, `${problem}; \`gpugate boards\` lists them`);
}

function boardTable(): string {
  const rows = BOARDS.map(({ names, memoryGB, computeSlices, profiles }) => [
    names.join(', '),
    `${memoryGB}GB`,
    String(computeSlices),
    profiles.map(({ profile }) => profile).join(', '),
  ]);
  return table([['BOARD', 'MEMORY', 'SLICES', 'PROFILES'], ...rows]);
}

function profileTable(rows: readonly Row[]): string {
  const cells = rows.map(({ board, profile, slices, memoryGB, usableMiB, max, resource }) => [
    board,
    profile,
    String(slices),
    `${memoryGB}GB`,
    // Not every figure of a driver has been seen.
    usableMiB === undefined ? '-' : `${usableMiB}Mi`,
    String(max),
    resource,
  ]);
  return table([['BOARD', 'PROFILE', 'SLICES', 'MEMORY', 'USABLE', 'PER GPU', 'RESOURCE'], ...cells]);
}
