import { dirname, join } from 'node:path';
import { caFileIn } from './credentials.ts';

// Our nodes send no heartbeats. This controller would mark them NotReady after 50 s and have their pods evicted; it also
// is the one that takes away the not-ready taint which the admission plugin puts on a new Node, so both are off.
const CONTROLLERS = '*,-node-lifecycle-controller';
const ADMISSION_OFF = 'TaintNodesByCondition';

/** Arguments of etcd, one member. */
export function etcdArgs(dir: string, clientPort: number, peerPort: number): string[] {
  const client = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  return [
    `--data-dir=${join(dir, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--log-level=warn',
    '--unsafe-no-fsync', // The data is thrown away at the end.
  ];
}

/** Arguments of kube-apiserver. */
export function apiServerArgs(dir: string, etcdPort: number, port: number): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none', // Endpoints may not hold a loopback address.
    `--secure-port=${port}`,
    `--cert-dir=${dirname(caFileIn(dir))}`, // It issues its own certificate there, once.
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=RBAC',
    `--token-auth-file=${join(dir, 'tokens.csv')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(dir, 'service-accounts.pub')}`,
    `--service-account-signing-key-file=${join(dir, 'service-accounts.key')}`,
    `--disable-admission-plugins=${ADMISSION_OFF}`,
    '--allow-privileged=true',
    '--shutdown-watch-termination-grace-period=1s', // Else a stop waits for the controllers' watches to end, up to a minute.
    '--profiling=false',
  ];
}

/** Arguments of kube-scheduler. */
export function schedulerArgs(kubeconfig: string): string[] {
  return clientArgs(kubeconfig);
}

function clientArgs(kubeconfig: string): string[] {
  return [`--kubeconfig=${kubeconfig}`, '--leader-elect=false', '--secure-port=0', '--profiling=false'];
}

/** Arguments of kube-controller-manager: all default controllers but one. */
export function managerArgs(dir: string, kubeconfig: string): string[] {
  return [
    ...clientArgs(kubeconfig),
    `--controllers=${CONTROLLERS}`,
    '--use-service-account-credentials=false',
    `--service-account-private-key-file=${join(dir, 'service-accounts.key')}`,
    `--root-ca-file=${caFileIn(dir)}`,
  ];
}
