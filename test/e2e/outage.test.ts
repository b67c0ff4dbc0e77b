import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { container, type Governed, pod, startGoverned } from './governed.ts';

describe('while gpugate is stopped', () => {
  let cluster: Governed;
  beforeAll(async () => {
    cluster = await startGoverned();
    await cluster.gpugate.stop();
  });
  afterAll(() => cluster?.stop());

  test('ordinary pods still start', async () => {
    for (const namespace of ['team-notebooks', 'team-inference', 'team-free']) {
      await cluster.must('apply -f -', pod('plain', namespace, [container('c', { limits: { cpu: 1 } })]));
    }
  });

  test('GPU pods of governed namespaces are refused, with the name of the entry', async () => {
    const { code, stderr } = await cluster.run('apply -f -', pod('gpu', 'team-notebooks', [container('c')]));
    expect(code).toBe(1);
    expect(stderr).toContain('failed calling webhook "gpu-pods.validate.gpugate.dev"');
  });

  test('pods of a guarded namespace are refused, with the name of the entry', async () => {
    const { code, stderr } = await cluster.run('apply -f -', pod('plain', 'team-web', [container('c', {})]));
    expect(code).toBe(1);
    expect(stderr).toContain('failed calling webhook "guard.validate.gpugate.dev"');
  });

  test('GPU pods elsewhere follow the API server’s own rules', async () => {
    await cluster.must('apply -f -', pod('gpu', 'team-free', [container('c')]));
    const { code, stderr } = await cluster.run(
      'apply -f -',
      pod('half', 'team-free', [container('c', { limits: { 'nvidia.com/gpu': '500m' } })]),
    );
    expect(code).toBe(1);
    expect(stderr).toContain('must be an integer');
    expect(stderr).not.toContain('gpugate');
  });

  test('and once it is back, they are judged again', async () => {
    await cluster.gpugate.start();
    await expect
      .poll(() => cluster.run('apply --dry-run=server -f -', pod('gpu', 'team-notebooks', [container('c')])), {
        timeout: 20_000,
      })
      .toMatchObject({ code: 0 });
  });
});
