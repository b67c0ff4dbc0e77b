import { container, pod } from './governed.ts';

/** One creation of a pod, with what has to become of it. */
export interface Creation {
  readonly namespace: string;
  readonly object: object;
  /** `changed`: accepted with a cap on its memory; `accepted` as it is; or the code of the finding it is refused with. */
  readonly expected: 'changed' | 'accepted' | `GPU${string}`;
}

const gpus = (amount: number | string) => [container('c', { limits: { 'nvidia.com/gpu': amount } })];
const allGpus = [container('c', {}, { env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' }] })];
const ordinary = [container('c', { limits: { cpu: '1' } })];

const KINDS: readonly ((name: string) => Creation)[] = [
  (name) => ({ namespace: 'team-notebooks', object: pod(name, 'team-notebooks', gpus(1)), expected: 'changed' }),
  (name) => ({ namespace: 'team-notebooks', object: pod(name, 'team-notebooks', ordinary), expected: 'accepted' }),
  (name) => ({ namespace: 'team-training', object: pod(name, 'team-training', allGpus), expected: 'GPU151' }),
  (name) => ({ namespace: 'team-free', object: pod(name, 'team-free', gpus(1)), expected: 'accepted' }),
  (name) => ({ namespace: 'team-notebooks', object: pod(name, 'team-notebooks', gpus(2)), expected: 'GPU102' }),
  (name) => ({ namespace: 'team-free', object: pod(name, 'team-free', ordinary), expected: 'accepted' }),
];

/** The kinds in turn: governed and good, governed and bad, GPUs without a policy, no GPU at all. */
export function creation(number: number): Creation {
  const kind = KINDS[number % KINDS.length];
  if (!kind) throw new Error('no kinds');
  return kind(`p${number}`);
}

/**
 * What became of a creation.
 * - right: as expected
 * - right the second time: it was asked to try again, since the label of its namespace was set in that moment
 * - refused wrongly: it was right and was refused, by a finding or because gpugate could not be asked
 * - let by wrongly: it was wrong and was accepted, or it had to be changed and was accepted unchanged
 * - refused unasked: it was wrong and was refused, but only because gpugate could not be asked
 * - lost with a process: it was under way to a replica in the moment when that was killed; nobody can answer it any more
 * - no answer: the API server itself did not answer, or said that it can't work now
 */
export const OUTCOMES = [
  'right',
  'right the second time',
  'refused wrongly',
  'let by wrongly',
  'refused unasked',
  'lost with a process',
  'no answer',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Whether gpugate has to judge at this time; `either` while it is being installed or removed. */
export type Governed = 'yes' | 'either' | 'no';

export function outcomeOf({ expected }: Creation, governed: Governed, code: number, body: unknown): Outcome {
  const { message = '', spec } = body as { message?: string; spec?: { containers: { env?: object[] }[] } };
  if (code === 201) {
    if (expected === 'accepted' || governed !== 'yes') return 'right';
    return expected === 'changed' && (spec?.containers[0]?.env?.length ?? 0) > 0 ? 'right' : 'let by wrongly';
  }
  const wanted = expected === 'accepted' || expected === 'changed';
  if (/gpugate\.dev" denied the request/.test(message)) {
    return !wanted && governed !== 'no' && message.includes(expected) ? 'right' : 'refused wrongly';
  }
  if (/failed calling webhook/.test(message)) return wanted ? 'refused wrongly' : 'refused unasked';
  return 'no answer';
}
