// Run by `helm test` in gpugate's image, with the namespace as its argument: half a GPU must be refused in gpugate's words.
import { readFileSync } from 'node:fs';

const [namespace] = process.argv.slice(-1);
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const token = readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/token', 'utf8');
const resources = { limits: { 'nvidia.com/gpu': '500m' } };
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'gpugate-test' },
  spec: { containers: [{ name: 'half', image: 'registry.example/none', resources }] },
};
const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
const answer = await fetch(`${server}/api/v1/namespaces/${namespace}/pods?dryRun=All`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify(pod),
});
const { message } = await answer.json();
console.log(message ?? `a pod with half a GPU was accepted (${answer.status})`);
process.exitCode = message?.includes('denied the request: gpugate: ') ? 0 : 1;
