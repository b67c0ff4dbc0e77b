import { sameJson } from './json.ts';
import { asArray, asObject } from './pod.ts';
import type { TemplateKind } from './template-kinds.ts';

type Path = readonly (string | number)[];

/** A pod template that stands in an object, or a container outside of one. */
export interface Template {
  /** Where it stands: `['spec', 'pytorchReplicaSpecs', 'Worker', 'template']`. */
  readonly path: Path;
  /** With metadata and spec, as a pod has them. */
  readonly template: unknown;
  /** For a container outside of a template: the field that holds its resources. The template is made up around it. */
  readonly resources?: string;
}

const EACH = '[*]';
const ANY = '*';
const FIELD = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** `spec.tasks[*].template` as its steps: `['spec', 'tasks', '[*]', 'template']`; undefined for what is no such path. */
export function pathSteps(path: string): readonly string[] | undefined {
  const steps = path.replaceAll(EACH, `.${EACH}`).split('.');
  const [first = ''] = steps;
  const sound = FIELD.test(first) && steps.every((step) => step === EACH || step === ANY || FIELD.test(step));
  return sound ? steps : undefined;
}

/** Every template of an object, once each. What has not the shape of the kind is passed over. */
export function templatesOf(object: unknown, { paths, containers = [] }: TemplateKind): readonly Template[] {
  const found = new Map<string, Template>();
  for (const path of paths) {
    for (const at of matches(object, pathSteps(path) ?? [], [])) {
      if (asObject(asObject(at.value)?.spec)) found.set(JSON.stringify(at.path), { path: at.path, template: at.value });
    }
  }
  for (const { path, resources } of containers) {
    for (const at of matches(object, pathSteps(path) ?? [], [])) {
      const container = asObject(at.value);
      if (!container || !asObject(container[resources])) continue;
      const { name = at.path.at(-1), env } = container;
      const template = { spec: { containers: [{ name, env, resources: container[resources] }] } };
      found.set(JSON.stringify(at.path), { path: at.path, template, resources });
    }
  }
  return [...found.values()];
}

/** The templates that an update changed, or that are new; all of them for an object that is made. */
export function newTemplates(object: unknown, oldObject: unknown, kind: TemplateKind): readonly Template[] {
  const templates = templatesOf(object, kind);
  if (!asObject(oldObject)) return templates;
  const known = templatesOf(oldObject, kind);
  return templates.filter(({ template }) => !known.some((old) => sameJson(old.template, template)));
}

/** The value at a path; undefined where there is none. */
export function valueAt(object: unknown, path: Path): unknown {
  return path.reduce<unknown>((here, part) => {
    if (typeof part === 'number') return asArray(here)[part];
    const parent = asObject(here);
    return parent && Object.hasOwn(parent, part) ? parent[part] : undefined;
  }, object);
}

/** True when another object controls this one: its template was judged there. */
export function hasController(object: unknown): boolean {
  const owners = asObject(asObject(object)?.metadata)?.ownerReferences;
  return Array.isArray(owners) && owners.some((owner) => asObject(owner)?.controller === true);
}

function* matches(value: unknown, steps: readonly string[], path: Path): Iterable<{ path: Path; value: unknown }> {
  const [step, ...rest] = steps;
  if (step === undefined) yield { path, value };
  else if (step === EACH) {
    for (const [index, item] of asArray(value).entries()) yield* matches(item, rest, [...path, index]);
  } else {
    const here = asObject(value);
    if (!here) return;
    for (const key of step === ANY ? Object.keys(here) : [step]) {
      if (Object.hasOwn(here, key)) yield* matches(here[key], rest, [...path, key]);
    }
  }
}
