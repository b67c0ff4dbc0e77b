import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { CODES } from '../../src/admission/findings.ts';
import { BOARDS } from '../../src/policy/boards.ts';
import { gpugate } from './gpugate.ts';

const page = (code: string) => readFile(new URL(`../../docs/rules/${code}.md`, import.meta.url), 'utf8');

describe('gpugate rules', () => {
  it('lists every code with its title and severity', async () => {
    const { code, stdout } = await gpugate(['rules']);
    expect(code).toBe(0);
    const [, ...rows] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows.map(([name, title]) => [name, title])).toEqual(Object.entries(CODES));
    expect(rows.filter(([, , severity]) => severity === undefined)).toEqual([]);
    expect(JSON.parse((await gpugate(['rules', '-o', 'json'])).stdout)).toContainEqual({
      code: 'GPU002',
      title: 'fraction of a GPU',
      severity: 'error',
    });
  });

  it('explains codes with their pages, however they are written', async () => {
    const { code, stdout } = await gpugate(['rules', 'explain', 'gpu002', 'GPU110']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${await page('GPU002')}\n${await page('GPU110')}` });
  });

  it('explains codes without the word too, and lists them alone as JSON', async () => {
    expect(await gpugate(['rules', 'gpu002'])).toMatchObject({ code: 0, stdout: await page('GPU002') });
    const { stdout } = await gpugate(['rules', 'GPU110', 'GPU002', '-o', 'json']);
    expect(JSON.parse(stdout).map(({ code }: { code: string }) => code)).toEqual(['GPU110', 'GPU002']);
    const unknown = await gpugate(['rules', 'GPU002', 'GPU999']);
    expect(unknown).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('no rule has the code GPU999'),
    });
  });

  it.each(['GPU999', '__proto__', 'toString'])('knows no code %s', async (name) => {
    const { code, stdout, stderr } = await gpugate(['rules', 'explain', name]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(`gpugate: no rule has the code ${name}; \`gpugate rules\` lists them\n`);
  });
});

describe('gpugate boards', () => {
  const boards = async (...args: string[]) => {
    const { code, stdout } = await gpugate(['boards', ...args, '-o', 'json']);
    expect(code).toBe(0);
    return JSON.parse(stdout) as { board: string; profile: string; usableMiB?: number }[];
  };

  it('lists every board', async () => {
    const { stdout } = await gpugate(['boards']);
    for (const { names } of BOARDS) expect(stdout).toContain(`\n${names.join(', ')} `);
  });

  it('lists the boards that have a profile, in any of its spellings', async () => {
    expect(await boards('1g.5gb+me')).toMatchObject([
      { board: 'A100-SXM4-40GB', profile: '1g.5gb.me', usableMiB: 4864 },
    ]);
    expect(await boards('mig-1g.5gb.me')).toEqual(await boards('1g.5gb.me'));
  });

  it.each(['NVIDIA-A100-SXM4-40GB', 'a100-sxm4-40gb'])('lists the profiles of the board %s', async (name) => {
    const profiles = (await boards(name)).map(({ profile }) => profile);
    expect(profiles).toEqual(['1g.5gb', '1g.5gb.me', '1g.10gb', '2g.10gb', '3g.20gb', '4g.20gb', '7g.40gb']);
  });

  it('lists several', async () => {
    expect(await boards('1g.5gb.me', 'h200')).toEqual([...(await boards('1g.5gb.me')), ...(await boards('h200'))]);
  });

  it.each([
    ['1g.11gb', '1g.11gb is on no known board; nearest: 1g.10gb (A100'],
    ['T4', 'no known board with MIG is called T4'],
  ])('says of %s that it is not known', async (name, message) => {
    expect(await gpugate(['boards', name])).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});
