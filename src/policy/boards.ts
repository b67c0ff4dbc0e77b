import boardsData from './data/mig-boards.json' with { type: 'json' };

/** A MIG profile of one board: the share of one GPU that one unit of `nvidia.com/mig-<profile>` stands for. */
export interface BoardProfile {
  /** Spelling of resources and labels: `1g.10gb.me` (k8s-device-plugin internal/rm/rm.go puts `.` for `+`, nothing else). */
  readonly profile: string;
  readonly slices: number;
  readonly memoryGB: number;
  readonly max: number;
  /** MiB that the driver reports; less than the name says. Only where it was seen on such a board. */
  readonly usableMiB?: number;
}

export interface Board {
  readonly names: readonly string[];
  /** What the product label of feature discovery looks like. */
  readonly match: readonly RegExp[];
  readonly memoryGB: number;
  readonly computeSlices: number;
  readonly profiles: readonly BoardProfile[];
}

/** Every board of data/mig-boards.json (sources and confidence are in the file). */
export const BOARDS: readonly Board[] = boardsData.map((board) => ({
  names: board.names,
  match: board.match.map((pattern) => new RegExp(pattern)),
  memoryGB: board.memoryGB,
  computeSlices: board.computeSlices,
  profiles: board.profiles.map((p) => ({
    profile: p.name.replace('+', '.'),
    slices: p.slices,
    memoryGB: p.memoryGB,
    max: p.max,
    ...('nvmlMemoryMB' in p && typeof p.nvmlMemoryMB === 'number' ? { usableMiB: p.nvmlMemoryMB } : {}),
  })),
}));

const boardsByProfile = new Map<string, Board[]>();
for (const board of BOARDS) {
  for (const { profile } of board.profiles)
    boardsByProfile.set(profile, [...(boardsByProfile.get(profile) ?? []), board]);
}

const LEAST_SHARE = 0.85;

/** The boards that have the profile, none if it is unknown. */
function boardsWith(profile: string): readonly Board[] {
  return boardsByProfile.get(profile) ?? [];
}

/**
 * Usable memory of a slice in MiB, at least: the smallest over the boards that have the profile, or over those of `products`. Where the driver's figure is
 * not known it is reckoned as 85% of the number in the name in GiB: the lowest that was seen is 30 of 35 (1g.35gb of GB300, NVIDIA/dgx-spark-playbooks).
 */
export function usableMiB(profile: string, products: readonly string[] = []): number | undefined {
  const boards = boardsWith(profile);
  const meant = boards.filter(({ match }) =>
    products.some((product) => match.some((pattern) => pattern.test(product))),
  );
  const sizes = (meant.length > 0 ? meant : boards).flatMap((board) =>
    board.profiles
      .filter((p) => p.profile === profile)
      .map((p) => p.usableMiB ?? Math.floor(p.memoryGB * 1024 * LEAST_SHARE)),
  );
  return sizes.length > 0 ? Math.min(...sizes) : undefined;
}

/** The profile in the spelling of resources: `mig-1g.10gb+me` -> `1g.10gb.me`. */
export function normalProfile(text: string): string {
  return text.replace(/^mig-/, '').replace('+', '.');
}

/** go-nvlib pkg/nvlib/device/mig_profile.go: `[<C>c.]<G>g.<GB>gb[(+|-)attr[,attr]]`. */
const GRAMMAR = /^(?:(\d+)c\.)?(\d+)g\.(\d+)gb(?:([.-])([a-z][a-z0-9.]*))?$/;

const SHAPES: readonly Shape[] = [...boardsByProfile.keys()].sort().map(shapeOf);

/** Why a profile can't be used, as the end of a sentence that starts with the profile; undefined when a board has it. */
export function profileProblem(profile: string): string | undefined {
  const parts = GRAMMAR.exec(profile);
  if (!parts) return 'is not a MIG profile such as 1g.10gb, 1g.10gb.me or 1g.24gb-me';
  if (parts[1] !== undefined && parts[1] !== parts[2]) {
    return 'is a compute-instance profile, which the device plugin never advertises';
  }
  if (boardsWith(profile).length > 0) return undefined;
  return `is on no known board; nearest: ${nearestProfiles(profile).map(describeProfile).join(', ')}`;
}

/** The code of what `profileProblem` says: GPU113 where only the board is missing. */
export function problemCode(problem: string): 'GPU101' | 'GPU113' {
  return problem.includes('no known board') ? 'GPU113' : 'GPU101';
}

/** The real profiles nearest to one of valid grammar: by slices, then size, then variant. */
function nearestProfiles(profile: string): readonly string[] {
  const wanted = shapeOf(profile);
  const distances = SHAPES.map((shape) => ({ profile: shape.profile, away: distance(wanted, shape) }));
  const best = Math.min(...distances.map(({ away }) => away));
  return distances.filter(({ away }) => away === best).map((nearest) => nearest.profile);
}

interface Shape {
  readonly profile: string;
  readonly slices: number;
  readonly memory: number;
  readonly variant: string;
}

function shapeOf(profile: string): Shape {
  const [, , slices = '0', memory = '0', , variant = ''] = GRAMMAR.exec(profile) ?? [];
  return { profile, slices: Number(slices), memory: Number(memory), variant };
}

function distance(a: Shape, b: Shape): number {
  const variant = a.variant === b.variant ? 0 : 1;
  return Math.abs(a.slices - b.slices) * 1000 + Math.abs(a.memory - b.memory) * 2 + variant;
}

function describeProfile(profile: string): string {
  const names = boardsWith(profile).map((board) => board.names[0]?.replace(/ \(.*/, ''));
  return `${profile} (${names.slice(0, 2).join(', ')}${names.length > 2 ? ', ...' : ''})`;
}
