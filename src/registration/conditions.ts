import { GUARDED_VARIABLES } from '../admission/visible-devices.ts';
import { CAP_SWITCHES } from '../policy/cap-variables.ts';

/**
 * CEL for matchConditions: the API server sends only objects that could touch a GPU, so that a dead gpugate never stops
 * an ordinary pod. A false condition lets the object by unseen, so each is generous; no field is read without has(),
 * since an error rejects under `failurePolicy: Fail`.
 */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** Names of GPUs and what people write for them; the rules look closer. Tested against the catalogue of resources. */
const GPU_NAME = String.raw`gpu|nv[a-z]{1,4}a|mig-|gaudi|i915|/xe$|^deviceclass\.`;
const RUNTIME_CLASS = 'nvidia';
const CDI_ANNOTATION = 'nvidia.cdi.k8s.io';

/** The regular expression for resource names, with the resources that the configuration adds. */
export function gpuNamePattern(extra: readonly string[] = []): string {
  const escaped = extra.map((name) => `^${name.toLowerCase().replace(/[.+*?^$()[\]{}|\\]/g, String.raw`\$&`)}$`);
  return [GPU_NAME, ...escaped].join('|');
}

/** A Pod that asks for a GPU, or might get at one: by resource, variable, annotation or runtime class. */
export function podTouchesGpu(extra: readonly string[] = []): MatchCondition {
  return { name: 'touches-a-gpu', expression: touchesGpu('object', extra) };
}

/** A workload whose pod template touches a GPU, that no controller owns, and whose spec is new. */
export function templateTouchesGpu(extra: readonly string[] = []): readonly MatchCondition[] {
  const job = 'object.spec.jobTemplate';
  const template = lines(
    `(has(object.spec) && has(${job}) && has(${job}.spec) && has(${job}.spec.template) ? [${job}.spec.template]`,
    '  : has(object.spec) && has(object.spec.template) ? [object.spec.template] : [])',
  );
  return [
    {
      name: 'no-controller',
      expression:
        '!(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller))',
    },
    {
      name: 'new-spec',
      expression:
        "request.operation != 'UPDATE' || !has(oldObject.spec) || !has(object.spec) || object.spec != oldObject.spec",
    },
    { name: 'touches-a-gpu', expression: `${template}.exists(t,\n${indent(touchesGpu('t', extra))})` },
  ];
}

/** A Pod that gpugate changed when it was created, and whose update asks for what it changed. */
export const APPLIED_AGAIN: readonly MatchCondition[] = [
  {
    name: 'changed-by-gpugate',
    expression: "has(oldObject.metadata.annotations) && 'gpugate.dev/policy' in oldObject.metadata.annotations",
  },
  {
    name: 'asks-for-a-change',
    expression: [
      differ(podList('containers', 'c', 'has(c.resources) ? c.resources : {}')),
      differ(podList('initContainers', 'c', 'has(c.resources) ? c.resources : {}')),
      differ(podList('containers', 'c', 'has(c.env) ? c.env : []')),
      differ(podList('initContainers', 'c', 'has(c.env) ? c.env : []')),
      differ((object) => `(has(${object}.spec.tolerations) ? ${object}.spec.tolerations : [])`),
      differ((object) => `(has(${object}.spec.affinity) ? [${object}.spec.affinity] : [])`),
    ].join('\n|| '),
  },
];

/** A Namespace whose gpugate.dev/ labels are new or changed. */
export const NAMESPACE_LABELLED: readonly MatchCondition[] = [
  {
    name: 'has-gpugate-labels',
    expression: "has(object.metadata.labels) && object.metadata.labels.exists(k, k.startsWith('gpugate.dev/'))",
  },
  {
    name: 'new-labels',
    expression:
      "request.operation != 'UPDATE' || !has(oldObject.metadata.labels) || object.metadata.labels != oldObject.metadata.labels",
  },
];

function touchesGpu(pod: string, extra: readonly string[]): string {
  const pattern = JSON.stringify(gpuNamePattern(extra));
  const variables = [...GUARDED_VARIABLES, ...CAP_SWITCHES.filter(({ set }) => !set).map(({ name }) => name)];
  const named = (map: string) => `(has(${map}) && ${map}.exists(k, k.lowerAscii().matches(${pattern})))`;
  const list = (name: string) => `(has(${pod}.spec.${name}) ? ${pod}.spec.${name} : [])`;
  return lines(
    `(has(${pod}.spec) && (`,
    `  (${['containers', 'initContainers', 'ephemeralContainers'].map(list).join('\n    + ')}).exists(c,`,
    `    (has(c.resources) && (${named('c.resources.limits')}`,
    `      || ${named('c.resources.requests')}))`,
    `    || (has(c.env) && c.env.exists(e, has(e.name) && e.name in ${JSON.stringify(variables)})))`,
    `  || (has(${pod}.spec.runtimeClassName) && ${pod}.spec.runtimeClassName.contains('${RUNTIME_CLASS}'))`,
    `  || (has(${pod}.spec.resources) && (${named(`${pod}.spec.resources.limits`)}`,
    `    || ${named(`${pod}.spec.resources.requests`)}))))`,
    `|| (has(${pod}.metadata) && has(${pod}.metadata.annotations)`,
    `  && ${pod}.metadata.annotations.exists(a, a.startsWith('${CDI_ANNOTATION}')))`,
  );
}

function podList(list: string, item: string, expression: string): (object: string) => string {
  return (object) => `(has(${object}.spec.${list}) ? ${object}.spec.${list}.map(${item}, ${expression}) : [])`;
}

function differ(side: (object: string) => string): string {
  return `${side('object')} != ${side('oldObject')}`;
}

function lines(...parts: readonly string[]): string {
  return parts.join('\n');
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
