import { misspeltGpuResource } from '../../policy/resources.ts';
import type { Rule } from '../context.ts';
import { fieldPath } from '../pod.ts';
import { found } from './each.ts';

/** A qualified name: 253 characters, a slash, 63 more. Looking for what a longer one means would take long. */
const LONGEST_NAME = 317;

/** GPU008: a resource name that looks like a GPU's and that no device plugin advertises: such a pod waits for ever. */
export const unknownName: Rule = {
  needs: 'arithmetic',
  check(context, tell) {
    let advertised: ReadonlySet<string> | undefined;
    for (const container of context.containers) {
      for (const name of container.otherResources) {
        if (name.length > LONGEST_NAME) continue;
        const meant = misspeltGpuResource(name, context.snapshot.gpuResources);
        if (!meant) continue;
        advertised ??= new Set(context.snapshot.nodes.flatMap((node) => Object.keys(node.allocatable)));
        if (advertised.has(name)) continue;
        tell(
          found('GPU008', 'warning', container, {
            field: fieldPath([...container.path, 'resources', 'limits', name]),
            value: name,
            message: `asks for ${name}, a name that no device plugin advertises.`,
            fix: `Did you mean ${meant}?`,
          }),
        );
      }
    }
  },
};
