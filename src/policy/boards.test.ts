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
    ['1g.10gb', 9728],
    ['1g.18gb', 15667],
    ['7g.141gb', 143360],
    ['9g.99gb', undefined],
  ])('%s: %s MiB on any board', (profile, mib) => {
    expect(usableMiB(profile)).toBe(mib);
  });

  // What nvidia-smi mig -lgip shows in GiB on such a board (sources are in the data).
  it.each([
    ['NVIDIA-H100-PCIe', '1g.10gb', 9.75],
    ['NVIDIA-H100-PCIe', '7g.80gb', 79.25],
    ['NVIDIA-H100-NVL', '1g.12gb', 10.625],
    ['NVIDIA-H100-NVL', '2g.24gb', 21.5],
    ['NVIDIA-GH200-480GB', '1g.12gb', 11],
    ['NVIDIA-H200', '1g.18gb', 16],
    ['NVIDIA-H200', '2g.35gb', 32.5],
    ['NVIDIA-B300-SXM6-AC', '1g.34gb', 33.75],
    ['NVIDIA-GB300', '1g.35gb', 30],
    ['NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition', '1g.24gb', 23.125],
  ])('is never more than a %s gives in %s', (product, profile, gib) => {
    const usable = usableMiB(profile, [product]) ?? 0;
    expect(usable).toBeLessThanOrEqual(gib * 1024);
    expect(usable).toBeGreaterThan(gib * 1024 * 0.85);
  });
});
