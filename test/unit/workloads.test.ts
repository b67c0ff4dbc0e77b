import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TEMPLATE_KINDS } from '../../src/admission/template-kinds.ts';
import { parseTemplateKinds } from '../../src/commands/templates.ts';
import { blocksOf, tableOf } from './pages.ts';

describe('docs/workloads.md', () => {
  const page = readFileSync(new URL('../../docs/workloads.md', import.meta.url), 'utf8');

  it('lists every kind with its paths', () => {
    const rows = tableOf(page, 'kind').map(([kind, group, paths]) => `${group} ${kind}: ${paths}`);
    const wanted = TEMPLATE_KINDS.map(({ kind, group, paths, containers = [] }) => {
      const all = [...paths, ...containers.map(({ path, resources }) => `${path}.${resources}`)];
      return `${group || 'core'} ${kind}: ${all.map((path) => `\`${path}\``).join(', ')}`;
    });
    expect(rows).toEqual(wanted);
  });

  it('shows a file that is read', () => {
    const [file] = blocksOf(page).filter(({ info }) => info === 'yaml');
    expect(parseTemplateKinds('kinds.yaml', file?.text ?? '')).toEqual([
      expect.objectContaining({ kind: 'TrainingRun', runsOnce: true }),
    ]);
  });
});
