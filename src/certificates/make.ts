import { authorityName, type Content, KEYS, readAuthority } from './content.ts';
import { parsePair } from './pair.ts';
import type { Plan } from './plan.ts';
import { makeAuthority, makeLeaf, type Signed } from './sign.ts';
import type { Terms } from './terms.ts';

/** Makes what a plan asks for. */
export async function carryOut(plan: Plan, terms: Terms, now: Date): Promise<Content> {
  const authority =
    plan.authority === 'make'
      ? authorityOf(
          await makeAuthority(authorityName(), {
            notBefore: plan.notBefore,
            notAfter: new Date(now.getTime() + terms.authorityMs),
          }),
        )
      : plan.authority;
  const { overlapUntil, renew } = plan;
  return {
    authority,
    pair: plan.pair === 'make' ? await leafUnder(authority, plan.names, terms, now) : plan.pair,
    bundle: [authority.x509, ...plan.others],
    overlapUntil,
    renew,
  };
}

/** A leaf that holds no longer than its CA, on either side. */
export async function leafUnder(
  authority: NonNullable<Content['authority']>,
  dns: readonly string[],
  { leafMs, backDateMs }: Terms,
  now: Date,
) {
  const { validFromDate, validToDate } = authority.x509;
  const notBefore = new Date(Math.max(now.getTime() - backDateMs, validFromDate.getTime()));
  const notAfter = new Date(Math.min(now.getTime() + leafMs, validToDate.getTime()));
  return parsePair('', await makeLeaf(authority, { dns }, { notBefore, notAfter }));
}

function authorityOf({ certificate, key }: Signed) {
  const authority = readAuthority(certificate, key);
  if (authority === undefined) throw new Error(`${KEYS.authority}: empty`);
  return authority;
}
