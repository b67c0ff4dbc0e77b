import sarifSchema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import Ajv from 'ajv-draft-04';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Audit } from '../audit/result.ts';
import { auditText } from './audit-text.ts';
import { asHtml } from './html.ts';
import { asPolicyReports } from './policy-report.ts';
import { asSarif } from './sarif.ts';

const EVIL = '</script><img src=x onerror=alert(1)>"\'&';

const audit: Audit = {
  command: 'audit',
  version: '1.2.3',
  time: '2026-11-29T18:00:00.250Z',
  judged: { pods: 12, workloads: 3, namespaces: 2, policies: 1, nodes: 1 },
  objects: [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'team-a',
      name: 'train',
      uid: 'u-1',
      policy: 'training',
      mode: 'enforce',
      outcome: 'pods-denied',
      changes: [],
      warnings: [],
      pods: 7,
      findings: [
        {
          code: 'GPU151',
          level: 'error',
          field: 'spec.containers[0]',
          container: EVIL,
          message: 'takes all GPUs.',
          fix: 'Remove the variable.',
          pods: 7,
          examples: ['train-1', 'train-2'],
        },
      ],
    },
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      name: 'team-b',
      mode: 'enforce',
      outcome: 'clean',
      changes: [],
      warnings: [],
      pods: 0,
      findings: [
        { code: 'GPU161', level: 'warning', field: 'metadata.labels', message: 'm.', fix: 'f.', pods: 0, examples: [] },
      ],
    },
  ],
  codes: [
    { code: 'GPU151', title: 'GPUs asked for by variable', errors: 1, warnings: 0, pods: 7 },
    { code: 'GPU161', title: 'a quota', errors: 0, warnings: 1, pods: 0 },
  ],
  notices: [{ message: 'node a: 1 of 8 nvidia.com/gpu are unhealthy' }],
  unreadable: [],
};

describe('text', () => {
  it('has the owners, the codes in numbers, and the sum', () => {
    const plain = {
      ...audit,
      objects: audit.objects.map((object) => ({
        ...object,
        findings: object.findings.map(({ container: _, ...finding }) => finding),
      })),
    };
    expect(auditText(plain, false)).toBe(`Deployment team-a/train (policy "training", 7 pods)
  refused GPU151 takes all GPUs.
      Remove the variable.
      in train-1, train-2 and 5 more
Namespace team-b
  warned GPU161 m.
      f.
notice node a: 1 of 8 nvidia.com/gpu are unhealthy

CODE    REFUSED  WARNED  PODS
GPU151  1        0       7     GPUs asked for by variable
GPU161  0        1       0     a quota

12 pods and 3 workloads in 2 namespaces judged: 1 would be refused today, 1 has warnings.
`);
  });

  it('says that all is well', () => {
    expect(auditText({ ...audit, objects: [], codes: [], notices: [], namespace: 'team-a' }, false)).toBe(
      '12 pods and 3 workloads in namespace team-a judged: all of it is as the policies want it.\n',
    );
  });

  it('says so where there was nothing to judge, rather than that it is well', () => {
    const judged = { pods: 0, workloads: 0, namespaces: 1, policies: 0, nodes: 0 };
    const empty = { ...audit, objects: [], codes: [], notices: [], namespace: 'team-a' };
    expect(auditText({ ...empty, judged }, false)).toBe('0 pods and 0 workloads in namespace team-a judged.\n');
    expect(auditText({ ...empty, judged: { ...judged, namespaces: 0 } }, false)).toBe(
      'nothing in namespace team-a was judged.\n',
    );
  });
});

describe('html', () => {
  const page = asHtml(audit);

  it('takes what comes from the cluster as text', () => {
    expect(page).not.toContain('<img');
    expect(page.match(/<script>/g)).toHaveLength(1);
    expect(page.match(/<\/script>/g)).toHaveLength(1);
    expect(page).toContain('&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
  });

  it('needs nothing beside itself', () => {
    expect(page).not.toMatch(/<[^>]*\b(src|href)=|https?:|url\(|@import/);
    expect(page).toContain("default-src 'none'");
  });

  it('has a row for every finding', () => {
    expect(page.match(/<tr class="(bad|odd)">/g)).toEqual(['<tr class="bad">', '<tr class="odd">']);
  });
});

describe('sarif', () => {
  it('of objects that stand in no file is valid by its published schema', () => {
    const ajv = new Ajv.default({ strict: false, allErrors: true, unicodeRegExp: false });
    addFormats.default(ajv);
    const log = JSON.parse(asSarif(audit));
    ajv.validate(sarifSchema, log);
    expect(ajv.errors).toBeNull();
    expect(log.runs[0].results.map(({ ruleId, level }: Record<string, string>) => [ruleId, level])).toEqual([
      ['GPU151', 'error'],
      ['GPU161', 'warning'],
    ]);
  });
});

describe('PolicyReports', () => {
  const reports = parseAllDocuments(asPolicyReports(audit)).map((document) => document.toJS());

  it('are one a namespace, and one for what is in none', () => {
    expect(reports).toMatchObject([
      {
        apiVersion: 'wgpolicyk8s.io/v1alpha2',
        kind: 'PolicyReport',
        metadata: { name: 'gpugate', namespace: 'team-a' },
        summary: { pass: 0, fail: 1, warn: 0, error: 0, skip: 0 },
      },
      { kind: 'ClusterPolicyReport', summary: { fail: 0, warn: 1 } },
    ]);
    expect(reports[1].metadata).not.toHaveProperty('namespace');
  });

  it('say what, of which object, and when', () => {
    expect(reports[0].results).toEqual([
      {
        source: 'gpugate',
        policy: 'training',
        rule: 'GPU151',
        category: 'GPUs asked for by variable',
        result: 'fail',
        severity: 'high',
        scored: true,
        message: 'takes all GPUs. Remove the variable.',
        timestamp: { seconds: 1795975200, nanos: 250000000 },
        resources: [{ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'team-a', name: 'train', uid: 'u-1' }],
        properties: { field: 'spec.containers[0]', container: EVIL, pods: '7' },
      },
    ]);
  });
});
