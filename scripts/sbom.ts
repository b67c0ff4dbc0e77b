import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import about from '../package.json' with { type: 'json' };

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Bom {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: { name: string } };
  components: { readonly 'bom-ref': string; readonly licenses?: readonly License[] }[];
  dependencies: { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

type License = { readonly license: { readonly id?: string; readonly name?: string } } | { readonly expression: string };

/**
 * The CycloneDX bill of materials of what gpugate is built from, read from the lockfile: production dependencies, each with its
 * licence and the hash of its tarball. The same lockfile and the same npm give the same bytes.
 */
export function sbom(): Bom {
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const bom: Bom = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 }));
  // Both differ from run to run, and neither is required (CycloneDX 1.5).
  delete bom.serialNumber;
  delete bom.metadata.timestamp;
  // npm takes the name of the folder.
  bom.metadata.component.name = about.name;
  const direct = Object.entries(about.dependencies).map((pair) => pair.join('@'));
  const needed = neededBy(direct, bom.dependencies);
  const root = `${about.name}@${about.version}`;
  bom.components = bom.components
    .filter((component) => needed.has(component['bom-ref']))
    .sort((a, b) => inOrder(a['bom-ref'], b['bom-ref']));
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => needed.has(ref) || ref === root)
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => needed.has(other)).sort() }))
    .sort((a, b) => inOrder(a.ref, b.ref));
  return bom;
}

/** These packages and what they depend on. `--omit=dev` is not it: npm 11 then leaves out what a development dependency needs too. */
function neededBy(direct: readonly string[], dependencies: Bom['dependencies']): ReadonlySet<string> {
  const needed = new Set(direct);
  const dependsOn = new Map(dependencies.map((entry) => [entry.ref, entry.dependsOn ?? []]));
  // A set that grows while it is gone through is gone through to its end.
  for (const ref of needed) for (const other of dependsOn.get(ref) ?? []) needed.add(other);
  return needed;
}

const inOrder = (a: string, b: string) => (a < b ? -1 : 1);

if (import.meta.main) {
  const file = process.argv[2] ?? join(ROOT, 'dist/sbom.cdx.json');
  mkdirSync(dirname(file), { recursive: true });
  const bom = sbom();
  writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
  console.log(`${file}: ${bom.components.length} packages`);
}
