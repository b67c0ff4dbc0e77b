import { readFileSync } from 'node:fs';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { describe, expect, it } from 'vitest';
import about from '../../package.json' with { type: 'json' };
import { sbom } from '../../scripts/sbom.ts';

interface Entry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
}

const lockfile: { readonly packages: Readonly<Record<string, Entry>> } = JSON.parse(
  readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
);
const packages = Object.entries(lockfile.packages).filter(([path]) => path !== '');

/** Licences that ask for no more than their text, which licences.txt of the bundle has. */
const ALLOWED = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Unlicense', 'PSF-2.0'];

describe('the lockfile', () => {
  it('has the SHA-512 of every package', () => {
    expect(packages.length).toBeGreaterThan(100);
    const without = packages.filter(([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''));
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it('leaves it to npm where packages come from: no address, no Git repository, no folder', () => {
    const elsewhere = packages.filter(([, { resolved, link }]) => resolved !== undefined || link === true);
    expect(elsewhere.map(([path, { resolved }]) => `${path} ${resolved}`)).toEqual([]);
  });

  it('has every dependency in the one version that package.json names', () => {
    for (const [name, version] of Object.entries({ ...about.dependencies, ...about.devDependencies })) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
      expect(lockfile.packages[`node_modules/${name}`]?.version, name).toBe(version);
    }
  });
});

describe('the bill of materials', () => {
  const bom = sbom();

  it('is CycloneDX by its schema', async () => {
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot5);
    expect(await validator.validate(JSON.stringify(bom))).toBeNull();
    expect(await validator.validate(JSON.stringify({ ...bom, components: [{}] }))).not.toBeNull();
  });

  it('is the same every time', () => {
    expect(sbom()).toEqual(bom);
  });

  it('has what a production install has, and no other', () => {
    const installed = packages.filter(([, { dev }]) => dev !== true);
    const refs = installed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`);
    expect(bom.components.map((component) => component['bom-ref'])).toEqual([...new Set(refs)].sort());
  });

  it('names no licence that asks for more than its text', () => {
    const licences = bom.components.map((component) => {
      const names = component.licenses?.map((one) =>
        'expression' in one ? one.expression : (one.license.id ?? one.license.name),
      );
      return `${component['bom-ref']}: ${names?.join(', ') ?? 'none'}`;
    });
    expect(licences.filter((line) => !ALLOWED.includes(line.split(': ')[1] ?? ''))).toEqual([]);
  });
});
