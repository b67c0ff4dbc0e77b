import { certificates } from './certificates.ts';
import { dryRuns } from './dry-runs.ts';
import type { DoctorInput } from './input.ts';
import { policies } from './policies.ts';
import { registration } from './registration.ts';
import { CHECKS, type CheckName, type Diagnosis, type Said, worst } from './result.ts';
import { service } from './service.ts';
import { versions } from './versions.ts';

const LOOK: Readonly<Record<CheckName, (input: DoctorInput) => readonly Said[]>> = {
  versions,
  registration,
  certificates,
  service,
  'dry runs': dryRuns,
  policies,
};

/** Is the webhook itself well? Pure. */
export function diagnose(input: DoctorInput): Diagnosis {
  const checks = CHECKS.map((name) => {
    const said = LOOK[name](input);
    return { name, mark: worst(said), said };
  });
  return { well: checks.every(({ mark }) => mark !== 'problem'), checks };
}
