import { capVariables, USELESS_VARIABLES } from '../../policy/cap-variables.ts';
import type { EffectivePolicy } from '../../policy/policy.ts';
import { standing } from '../cap-values.ts';
import type { Context, Rule } from '../context.ts';
import { type ContainerView, envEntry, fieldPath } from '../pod.ts';
import { shown } from '../shown.ts';
import { found } from './each.ts';

const MPS_LIMIT = 'CUDA_MPS_PINNED_DEVICE_MEM_LIMIT';
const HAMI_LIMIT = 'CUDA_DEVICE_MEMORY_LIMIT';
const JAX_NAMES = ['XLA_PYTHON_CLIENT_MEM_FRACTION', 'XLA_CLIENT_MEM_FRACTION'] as const;
const SUSPECTS = new Set<string>([MPS_LIMIT, HAMI_LIMIT, ...JAX_NAMES, ...Object.keys(USELESS_VARIABLES)]);

/** GPU144: a cap variable of the user's that can't do here what it is meant to. */
export const capCannotWork: Rule = {
  needs: 'policy',
  check(context, tell) {
    for (const container of context.capped()) {
      for (const { name, why, fix } of useless(context, container)) {
        const entry = envEntry(container, name);
        tell(
          found('GPU144', 'warning', container, {
            field: fieldPath([...container.path, 'env', entry?.index ?? 0]),
            ...(entry?.value === undefined ? {} : { value: shown(entry.value) }),
            message: `${name} ${why}.`,
            fix,
          }),
        );
      }
    }
  },
};

function* useless(context: Context, container: ContainerView): Iterable<{ name: string; why: string; fix: string }> {
  const { policy } = context;
  const names = new Set(container.env.map((entry) => entry.name).filter((name) => SUSPECTS.has(name)));
  if (names.size === 0) return;
  if (names.has(MPS_LIMIT) && policy.sharing !== 'mps') {
    yield {
      name: MPS_LIMIT,
      why: 'acts only on clients of an MPS server, and this namespace has none',
      fix: 'Remove it.',
    };
  }
  const hami = envEntry(container, HAMI_LIMIT)?.value;
  if (hami !== undefined && !setsIt(policy, HAMI_LIMIT) && standing('suffixed', hami, {}, 1) === 'unreadable') {
    yield {
      name: HAMI_LIMIT,
      why: `is ${shown(hami)}; HAMi-core reads digits and one letter (k, m or g), so it takes this for bytes`,
      fix: 'Write it as 4g or 4096m.',
    };
  }
  if (JAX_NAMES.every((name) => names.has(name))) {
    yield {
      name: JAX_NAMES[0],
      why: `is set beside ${JAX_NAMES[1]}, and JAX refuses to start with both`,
      fix: 'Keep one of them.',
    };
  }
  for (const [name, why] of Object.entries(USELESS_VARIABLES)) {
    if (names.has(name)) yield { name, why: `caps nothing: ${why}`, fix: 'Remove it.' };
  }
}

/** Where the policy itself sets a variable, GPU141 corrects it. */
function setsIt({ memoryCap, sharing }: EffectivePolicy, variable: string): boolean {
  return capVariables(memoryCap?.frameworks ?? [], sharing === 'mps').some(({ name }) => name === variable);
}
