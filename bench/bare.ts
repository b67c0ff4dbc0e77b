import { readFileSync } from 'node:fs';
import { fastify } from 'fastify';

/** What this server reads of a review. */
interface Review {
  readonly apiVersion: string;
  readonly request: { readonly uid: string; readonly object: { readonly spec: { readonly containers: Container[] } } };
}
interface Container {
  readonly name: string;
  readonly resources?: { readonly limits?: Record<string, string>; readonly requests?: Record<string, string> };
}

// What any webhook on Fastify costs: the rewrite of gpugate for one fixed policy, as short as it can be written, without
// looking anything up, checking anything, counting or logging. Arguments: port, and the folder of tls.crt and tls.key.
const [port, certificates] = process.argv.slice(2);
const POLICY = 'latency-inference';
const PROFILE = '1g.10gb';

const app = fastify({
  https: {
    cert: readFileSync(`${certificates}/tls.crt`),
    key: readFileSync(`${certificates}/tls.key`),
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['http/1.1'],
  },
  bodyLimit: 8 * 1024 * 1024,
  keepAliveTimeout: 120_000,
});

app.post('/mutate', async (request) => {
  const { apiVersion, request: asked } = request.body as Review;
  const { uid, object } = asked;
  const patch: object[] = [];
  const originals: Record<string, object> = {};
  for (const [index, { name, resources = {} }] of object.spec.containers.entries()) {
    for (const list of ['limits', 'requests'] as const) {
      const value = resources[list]?.['nvidia.com/gpu'];
      if (value === undefined) continue;
      const path = `/spec/containers/${index}/resources/${list}/nvidia.com~1`;
      patch.push({ op: 'remove', path: `${path}gpu` }, { op: 'add', path: `${path}mig-${PROFILE}`, value });
      originals[name] = { 'nvidia.com/gpu': value };
    }
  }
  const annotation = (name: string, value: string) => ({
    op: 'add',
    path: `/metadata/annotations/gpugate.dev~1${name}`,
    value,
  });
  patch.push(annotation('policy', POLICY), annotation('original', JSON.stringify(originals)));
  return {
    apiVersion,
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    },
  };
});

await app.listen({ host: '127.0.0.1', port: Number(port) });
// So that what Node writes at exit, such as a CPU profile, is written.
process.on('SIGTERM', () => process.exit(0));
