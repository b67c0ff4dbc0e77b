import type { Context, Rule } from '../context.ts';
import { asArray, asksForGpu, asObject, fieldPath } from '../pod.ts';

/** Labels and taints of GPU nodes, by the start of their key (facts: feature discovery, GKE, Karpenter). */
const GPU_NODE =
  /^(nvidia\.com\/|amd\.com\/gpu|cloud\.google\.com\/gke-accelerator|karpenter\.k8s\.aws\/instance-gpu-)/;

/** GPU162: a pod that picks a GPU node, by selector or toleration, and asks for no GPU: it takes a place that others wait for. */
export const gpuNodeWithoutGpu: Rule = {
  needs: 'policy',
  check(context, tell) {
    const { pod, whole } = context;
    if (!whole || pod.containers.some((container) => asksForGpu(container) || container.hasClaims)) return;
    const sign = gpuNodeSign(context);
    if (!sign) return;
    tell({
      code: 'GPU162',
      severity: 'note',
      field: fieldPath([...pod.path, 'spec', sign.field]),
      value: sign.key,
      message: `the pod picks GPU nodes by its ${sign.what} ${sign.key}, and asks for no GPU.`,
      fix: `Remove the ${sign.what}, or ask for a GPU.`,
    });
  },
};

function gpuNodeSign({
  pod,
}: Context): { readonly field: string; readonly what: string; readonly key: string } | undefined {
  const selected = Object.keys(asObject(pod.spec.nodeSelector) ?? {}).find((key) => GPU_NODE.test(key));
  if (selected !== undefined) return { field: 'nodeSelector', what: 'node selector', key: selected };
  const tolerated = asArray(pod.spec.tolerations)
    .map((toleration) => asObject(toleration)?.key)
    .find((key) => typeof key === 'string' && GPU_NODE.test(key));
  return typeof tolerated === 'string' ? { field: 'tolerations', what: 'toleration of', key: tolerated } : undefined;
}
