import { TEMPLATE_KINDS } from '../admission/template-kinds.ts';
import { GUARDED_VARIABLES } from '../admission/visible-devices.ts';
import { CDI_ANNOTATION } from '../admission/ways/cdi-annotations.ts';
import { NVIDIA_CLASS } from '../admission/ways/runtime-class.ts';
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

/** The regular expression for resource names, with the resources that the configuration adds. */
export function gpuNamePattern(extra: readonly string[] = []): string {
  const escaped = extra.map((name) => `^${name.toLowerCase().replace(/[.+*?^$()[\]{}|\\]/g, String.raw`\$&`)}$`);
  return [GPU_NAME, ...escaped].join('|');
}

/** A Pod that asks for a GPU, or might get at one: by resource, variable, annotation or runtime class. */
export function podTouchesGpu(extra: readonly string[] = []): MatchCondition {
  return { name: 'touches-a-gpu', expression: touchesGpu('object', extra) };
}

/** An object that is new, or whose spec is: labels, annotations and finalizers may change unseen. */
export const NEW_SPEC: MatchCondition = {
  name: 'new-spec',
  expression:
    "request.operation != 'UPDATE' || !has(oldObject.spec) || !has(object.spec) || object.spec != oldObject.spec",
};

/**
 * A workload that no controller owns and whose templates are new. Of the API server's own kinds only those that touch a GPU
 * are sent. A custom resource is sent with every new spec: its schema is not known here, so that any look into its templates
 * may fail (a list where a map is meant), and one that fails lets the object by unseen.
 */
export function newTemplates(extra: readonly string[] = []): readonly MatchCondition[] {
  const fresh = lines(
    "request.operation != 'UPDATE'",
    `|| (${BUILT_IN}`,
    `  ? ${builtInTemplate('object')} != ${builtInTemplate('oldObject')}`,
    '  : !has(object.spec) || !has(oldObject.spec) || object.spec != oldObject.spec)',
  );
  const touches = `!(${BUILT_IN})\n|| ${builtInTemplate('object')}.exists(t,\n${indent(touchesGpu('t', extra))})`;
  return [
    {
      name: 'no-controller',
      expression:
        '!(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller))',
    },
    { name: 'new-templates', expression: fresh },
    { name: 'touches-a-gpu', expression: touches },
  ];
}

const BUILT_IN = `(request.kind.group + '/' + request.kind.kind) in ${JSON.stringify(
  TEMPLATE_KINDS.filter(({ builtIn }) => builtIn).map(({ group, kind }) => `${group}/${kind}`),
)}`;

/** The template of one of the API server's own kinds, as a list of one; of none where there is none. */
function builtInTemplate(object: string): string {
  const job = `${object}.spec.jobTemplate`;
  return lines(
    `(has(${object}.spec) && has(${job}) && has(${job}.spec) && has(${job}.spec.template) ? [${job}.spec.template]`,
    `  : has(${object}.spec) && has(${object}.spec.template) ? [${object}.spec.template] : [])`,
  );
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
    `  || (has(${pod}.spec.runtimeClassName) && ${pod}.spec.runtimeClassName.contains('${NVIDIA_CLASS}'))`,
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
