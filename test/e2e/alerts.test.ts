import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { promtool } from '../cluster/promtool.ts';
import { ALERTS_FILE, alerts } from '../monitoring/files.ts';

const TESTS = new URL('../monitoring/alerts.promtool.yaml', import.meta.url);

describe('the alert rules', () => {
  beforeAll(() => promtool(['--version'], console.log));

  test('are what Prometheus takes, its linter included', async () => {
    const checked = await promtool(['check', 'rules', '--lint=all', '--lint-fatal', fileURLToPath(ALERTS_FILE)]);
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining(`${alerts().length} rules found`) });
  });

  test('fire when they should, and then alone', async () => {
    const { code, stdout, stderr } = await promtool(['test', 'rules', fileURLToPath(TESTS)]);
    expect({ code, said: stdout + stderr }).toMatchObject({ code: 0, said: expect.stringContaining('SUCCESS') });
  });

  test.each(alerts().map(({ alert }) => alert))('%s fires in one of them', (alert) => {
    expect(readFileSync(TESTS, 'utf8')).toContain(`alertname="${alert}"`);
  });
});
