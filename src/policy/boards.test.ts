import { describe, expect, it } from 'vitest';
import { BOARDS, normalProfile, profileProblem, usableMiB } from './boards.ts';
import boardsData from './data/mig-boards.json' with { type: 'json' };
import { gpuResource, migResource } from './resources.ts';

const all = boardsData.flatMap((board) => board.profiles.map((profile) => ({ board: board.names[0], ...profile })));

describe(`the ${all.length} profiles of ${boardsData.length} boards`, () => {
  it('are 116 of 17', () => {
    expect([all.length, BOARDS.length]).toEqual([116, 17]);
  });

  it.each(all)('$name of $board is accepted in every spelling', ({ name, resource }) => {
    const profile = normalProfile(name);
    expect(profileProblem(profile)).toBeUndefined();
    expect(migResource(profile)).toBe(resource);
    expect(normalProfile(`mig-${profile}`)).toBe(profile);
    expect(gpuResource(resource)).toMatchObject({ kind: 'mig', vendor: 'nvidia.com', profile });
  });

  it.each(all)('$name of $board has no more usable memory than its name says', ({ name, memoryGB }) => {
    const usable = usableMiB(normalProfile(name)) ?? 0;
    expect(usable).toBeGreaterThan(0);
    expect(usable).toBeLessThanOrEqual(memoryGB * 1024);
  });
});

describe('profiles that no board has', () => {
  it.each([
    [
      '1g.11gb',
      'is on no known board; nearest: 1g.10gb (A100-SXM4-40GB, A100-SXM4-80GB, ...), 1g.12gb (H100-NVL, GH200-96GB, ...)',
    ],
    ['8g.80gb', 'is on no known board; nearest: 7g.80gb (A100-SXM4-80GB, A100X, ...)'],
    ['1g.5gb.gfx', 'is on no known board; nearest: 1g.5gb (A100-SXM4-40GB), 1g.5gb.me (A100-SXM4-40GB)'],
  ])('%s', (profile, problem) => {
    expect(profileProblem(profile)).toBe(problem);
  });

  it.each(['', 'small', '10gb', '1g', 'g.gb', '1g.10', '1G.10GB', '1g.10gb.', '1g.10gb+me', '1g.10gb/1', ' 1g.10gb'])(
    '"%s" is no profile',
    (profile) => {
      expect(profileProblem(profile)).toContain('is not a MIG profile');
    },
  );

  it('a compute instance is never advertised', () => {
    expect(profileProblem('1c.2g.20gb')).toContain('never advertises');
  });
});

describe('usable memory', () => {
  it.each([
    ['1g.5gb', 4864],
    ['1g.10gb', 9536],
    ['7g.141gb', 144384],
    ['9g.99gb', undefined],
  ])('%s: %s MiB', (profile, mib) => {
    expect(usableMiB(profile)).toBe(mib);
  });
});
