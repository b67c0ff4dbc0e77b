import { CODES } from '../admission/findings.ts';
import type { Audit, AuditedFinding, AuditedObject } from '../audit/result.ts';
import { yamlText } from '../files/yaml-text.ts';

/**
 * An audit as PolicyReport objects, one a namespace, and a ClusterPolicyReport: the convention of the Kubernetes policy working
 * group, wgpolicyk8s.io/v1alpha2, which policy-reporter and others read (OpenReports has the same fields). To be applied by whoever
 * wants them kept; the same names each time, so that a later audit takes the place of an earlier one.
 */
export function asPolicyReports(audit: Audit): string {
  return policyReports(audit)
    .map((report) => yamlText(report, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}

const API_VERSION = 'wgpolicyk8s.io/v1alpha2';
const LABELS = { 'app.kubernetes.io/managed-by': 'gpugate' };

/** The same as objects. */
export function policyReports(audit: Audit): readonly object[] {
  const byNamespace = Map.groupBy(audit.objects, ({ namespace }) => namespace);
  return [...byNamespace].map(([namespace, objects]) => {
    const results = objects.flatMap((object) => object.findings.map((finding) => result(object, finding, audit.time)));
    const count = (wanted: string) => results.filter((each) => each.result === wanted).length;
    return {
      apiVersion: API_VERSION,
      kind: namespace === undefined ? 'ClusterPolicyReport' : 'PolicyReport',
      metadata: { name: 'gpugate', ...(namespace === undefined ? {} : { namespace }), labels: LABELS },
      summary: { pass: 0, fail: count('fail'), warn: count('warn'), error: 0, skip: 0 },
      results,
    };
  });
}

function result(object: AuditedObject, finding: AuditedFinding, time: string) {
  const { apiVersion, kind, namespace, name, uid, policy } = object;
  const { code, level, message, fix, field, container, pods } = finding;
  const at = Date.parse(time);
  return {
    source: 'gpugate',
    policy: policy ?? 'gpugate',
    rule: code,
    category: CODES[code],
    result: level === 'error' ? 'fail' : 'warn',
    severity: level === 'error' ? 'high' : 'medium',
    // Warnings are of what is no requirement.
    scored: level === 'error',
    message: `${message} ${fix}`,
    timestamp: { seconds: Math.floor(at / 1000), nanos: (at % 1000) * 1_000_000 },
    resources: [
      {
        apiVersion,
        kind,
        ...(namespace === undefined ? {} : { namespace }),
        name,
        ...(uid === undefined ? {} : { uid }),
      },
    ],
    properties: {
      field,
      ...(container === undefined ? {} : { container }),
      ...(pods > 0 ? { pods: String(pods) } : {}),
    },
  };
}
