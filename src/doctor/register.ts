import { NAME } from '../registration/configurations.ts';

/** What writes both configurations anew: `gpugate manifests` makes those of its own name; those of another one are a chart's. */
export function registerAgain(configuration: string): string {
  return configuration === NAME
    ? 'gpugate manifests | kubectl apply --server-side --force-conflicts -f - (or: helm upgrade)'
    : `helm upgrade of the release whose configurations are called ${configuration}`;
}

/** For a caBundle that is not what it should be. */
export function renewBundle(configuration: string): string {
  return `${registerAgain(configuration)}; or look why the caBundle is not kept up: logs of gpugate, of cainjector`;
}
