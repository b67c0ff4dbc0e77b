import { join } from 'node:path';
import { startControlPlane } from './controlplane.ts';
import { addCrd, addNamespaces, addPolicies, register, startGpugate } from './gpugate.ts';
import { addNodes } from './nodes.ts';

// `npm run cluster`: a real control plane with nodes of several makes, and gpugate registered with it, until Ctrl-C.
const plane = await startControlPlane({ log: console.log });
try {
  await addNodes(plane);
  const namespaces = await addNamespaces(plane);
  await addCrd(plane);
  const gpugate = await startGpugate(plane);
  try {
    await register(plane, gpugate);
    await addPolicies(plane);
    console.log(instructions(plane.kubeconfig, namespaces, gpugate.logFile));
    await interrupted();
    console.log('\nStopping ...');
  } finally {
    await gpugate.stop();
  }
} finally {
  await plane.stop();
}

function instructions(kubeconfig: string, namespaces: readonly string[], logFile: string): string {
  const example = (name: string) => join('deploy/demo/examples', name);
  return `
A control plane is running, with gpugate before its GPU pods. Namespaces: ${namespaces.join(', ')}.
Its policies are in the cluster: kubectl get gpupolicies, kubectl explain gpupolicy.spec. The log of gpugate: ${logFile}

In another terminal, in the same folder:

  export KUBECONFIG=${kubeconfig}

  # half a GPU: refused, with the reason and the fix
  kubectl apply --dry-run=server -n team-notebooks -f ${example('half-a-gpu.yaml')}
  # a Deployment of 2 becomes pods with MIG slices, placed on the MIG node
  kubectl apply -n team-inference -f ${example('inference.yaml')} && kubectl get pods -n team-inference -o wide
  # a notebook gets the memory caps of its share
  kubectl apply -n team-notebooks -f ${example('notebook.yaml')} && kubectl get pod notebook -n team-notebooks -o yaml
  # all GPUs by variable: refused
  kubectl apply --dry-run=server -n team-training -f ${example('all-by-variable.yaml')}
  # a label that is not understood: a warning when it is written
  kubectl label namespace team-free gpugate.dev/mig-profile=1g.11gb

Ctrl-C ends all of it.`;
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
