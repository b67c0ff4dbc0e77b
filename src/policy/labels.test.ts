import { describe, expect, it } from 'vitest';
import { readLabels } from './labels.ts';

const read = (name: string, value: string) => readLabels({ [`gpugate.dev/${name}`]: value });

describe('labels that are understood', () => {
  it.each([
    ['policy', 'notebooks', { policy: 'notebooks' }],
    ['mode', 'enforce', { mode: 'enforce' }],
    ['mode', 'warn', { mode: 'warn' }],
    ['mode', 'audit', { mode: 'audit' }],
    ['sharing', 'exclusive', { sharing: 'exclusive' }],
    ['sharing', 'time-slicing', { sharing: 'time-slicing' }],
    ['sharing', 'mps', { sharing: 'mps' }],
    ['sharing', 'mig', { sharing: 'mig' }],
    ['mig-profile', '1g.10gb', { profile: '1g.10gb' }],
    ['mig-profile', 'mig-1g.10gb', { profile: '1g.10gb' }],
    ['mig-profile', '1g.10gb.me', { profile: '1g.10gb.me' }],
    ['mig-profile', '1g.24gb-me', { profile: '1g.24gb-me' }],
    ['memory-cap', 'auto', { memoryCap: { kind: 'auto' } }],
    ['memory-cap', '8Gi', { memoryCap: { kind: 'mib', mib: 8192, text: '8Gi' } }],
    ['memory-cap', '4096Mi', { memoryCap: { kind: 'mib', mib: 4096, text: '4096Mi' } }],
    ['memory-cap', '4294967296', { memoryCap: { kind: 'mib', mib: 4096, text: '4294967296' } }],
    ['memory-cap', '0', { memoryCap: { kind: 'off' } }],
    ['max-gpus', '0', { maxGpus: 0 }],
    ['max-gpus', '16', { maxGpus: 16 }],
    ['visible-devices', 'ignore', { visibleDevices: 'ignore' }],
    ['visible-devices', 'void', { visibleDevices: 'void' }],
  ])('%s=%s', (name, value, settings) => {
    expect(read(name, value)).toEqual({ settings, problems: [], warnings: [] });
  });
});

describe('labels that are not understood', () => {
  it.each([
    ['policy', ''],
    ['mode', 'Enforce'],
    ['mode', ''],
    ['sharing', 'timeslicing'],
    ['sharing', 'toString'],
    ['mig-profile', 'small'],
    ['mig-profile', '1c.2g.20gb'],
    ['memory-cap', '8GB'],
    ['memory-cap', '255Mi'],
    ['memory-cap', '-1Gi'],
    ['memory-cap', '1e30'],
    ['memory-cap', ''],
    ['max-gpus', '-1'],
    ['max-gpus', '1.5'],
    ['max-gpus', '1e3'],
    ['max-gpus', 'two'],
    ['visible-devices', 'all'],
  ])('%s=%s is a problem', (name, value) => {
    const { settings, problems, warnings } = read(name, value);
    expect(settings).toEqual({});
    expect(problems).toMatchObject([{ code: 'GPU101', where: `namespace label gpugate.dev/${name}`, value }]);
    expect(warnings).toEqual([]);
  });

  it('a profile that no board has is told by its own code', () => {
    expect(read('mig-profile', '1g.11gb').problems).toMatchObject([{ code: 'GPU113', value: '1g.11gb' }]);
  });

  it('a misspelt value or name is told with the nearest there is', () => {
    expect(read('sharing', 'timeslicing').problems).toMatchObject([{ fix: 'Did you mean time-slicing?' }]);
    expect(read('sharing', 'vgpu').problems).toMatchObject([{ fix: 'Correct the label.' }]);
    expect(read('shering', 'mig').warnings).toMatchObject([{ fix: 'Did you mean gpugate.dev/sharing?' }]);
    expect(read('team', 'a').warnings).toMatchObject([{ fix: expect.stringMatching(/^Known are policy, /) }]);
  });

  it('one problem does not take the other labels with it', () => {
    const { settings, problems } = readLabels({ 'gpugate.dev/mode': 'warn', 'gpugate.dev/sharing': 'mgi' });
    expect(settings).toEqual({ mode: 'warn' });
    expect(problems).toHaveLength(1);
  });

  it.each(['shring', 'Mode', 'constructor', '__proto__', ''])(
    'gpugate.dev/%s is not known, which is a warning',
    (name) => {
      const { settings, problems, warnings } = readLabels(JSON.parse(`{"gpugate.dev/${name}":"x"}`));
      expect({ settings, problems }).toEqual({ settings: {}, problems: [] });
      expect(warnings).toMatchObject([{ code: 'GPU101', where: `namespace label gpugate.dev/${name}` }]);
    },
  );

  it('labels of others are passed over', () => {
    const labels = {
      'kubernetes.io/metadata.name': 'a',
      gpugate: 'x',
      'gpugate.dev': 'x',
      'x.gpugate.dev/mode': 'warn',
    };
    expect(readLabels(labels)).toEqual({ settings: {}, problems: [], warnings: [] });
  });
});
