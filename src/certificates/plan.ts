import type { X509Certificate } from 'node:crypto';
import type { Authority, Content, Read } from './content.ts';
import type { Pair } from './pair.ts';
import type { Terms } from './terms.ts';
import { same, signedBy } from './x509.ts';

/** A pair, and the CA that clients must trust for it. */
export interface Served {
  readonly pair: Pair;
  readonly issuer: X509Certificate;
}

/** All that a decision depends on. */
export interface Situation {
  /** By the clock of the API server, which is the one that judges certificates. */
  readonly now: Date;
  readonly terms: Terms;
  /** DNS names that the leaf must have. */
  readonly names: readonly string[];
  /** What the Secret holds; undefined when there is none. */
  readonly secret: Read | undefined;
  /** What it held when it was last in order, so far as this process has seen. */
  readonly held: Content | undefined;
  /** What this process serves. */
  readonly served: Served | undefined;
  /** For how long every configuration has trusted a CA, in milliseconds; undefined when one doesn't, or it isn't known. */
  trustedForMs(ca: X509Certificate): number | undefined;
}

/** What the Secret should hold. `make` stands for what has to be made first. */
export interface Plan {
  readonly authority: Authority | 'make';
  readonly pair: Pair | 'make';
  /** From when a CA that is to be made holds. */
  readonly notBefore: Date;
  /** DNS names of a leaf that is to be made. */
  readonly names: readonly string[];
  /** CAs to trust beside the one that signs. */
  readonly others: readonly X509Certificate[];
  readonly overlapUntil: Date | undefined;
  readonly renew: Content['renew'];
  /** Each way in which the Secret differs from this, for the log; none when it is as it should be. */
  readonly why: readonly string[];
}

/**
 * Decides what the Secret should hold. A rotation of the CA takes three decisions, each of which waits for the one before:
 * the new CA joins the bundle; once every configuration trusts it, a leaf is made under it; and when the overlap is over, the
 * old CA goes.
 */
export function decide(situation: Situation): Plan {
  const { now, terms, secret, held, served } = situation;
  const content = secret?.content;
  const kept = content?.authority ?? held?.authority;
  const pair = content?.pair ?? held?.pair;
  const bundle = content?.bundle.length ? content.bundle : (held?.bundle ?? []);

  const authorityDue = whyAuthority(situation, kept, bundle);
  const authority = authorityDue === undefined && kept ? kept : 'make';
  const signing = authority === 'make' ? undefined : authority.x509;
  const issuer = pair && issuerOf(pair, [kept?.x509, ...bundle, ...(held?.bundle ?? []), served?.issuer]);
  const pairDue = whyPair(situation, { pair, issuer, signing });
  const next = pairDue === undefined && pair ? pair : 'make';

  const inUse = [kept?.x509, next === 'make' ? undefined : issuer, served?.issuer];
  const others = distinct([...bundle, ...inUse]).filter((ca) => ca.validToDate > now && !same(ca, signing));
  const overlap = overlapOf(situation, {
    others,
    made: next === 'make',
    under: next === 'make' || same(issuer, signing),
  });
  const remaining = overlap.over ? [] : others;
  return {
    authority,
    pair: next,
    // Not later than the one before it, so that a clock that was set back finds it valid.
    notBefore: new Date(Math.min(now.getTime() - terms.backDateMs, kept?.x509.validFromDate.getTime() ?? Infinity)),
    names: namesOf(situation.names, pair),
    others: remaining,
    overlapUntil: overlap.until,
    renew: isDone(content?.renew, authority, next) ? undefined : content?.renew,
    why: [
      secret === undefined ? 'there is no Secret' : undefined,
      ...(secret?.faults ?? []),
      content && !content.authority && kept ? 'the CA is missing' : undefined,
      content && !content.pair && pair ? 'the leaf is missing' : undefined,
      authorityDue,
      pairDue,
      overlap.why,
      content && signing && !sameAll(content.bundle, [signing, ...remaining]) ? 'the bundle is another one' : undefined,
    ].filter((reason) => reason !== undefined),
  };
}

/** Why nothing may be decided: to renew by a clock that is wrong would make certificates that nobody accepts. */
export function clockProblem({ now, secret, held }: Situation): string | undefined {
  const from = (secret?.content.authority ?? held?.authority)?.x509.validFromDate;
  if (from === undefined || from <= now) return undefined;
  return `the CA is not valid before ${from.toISOString()}, and the API server's clock shows ${now.toISOString()}; set it right`;
}

/** Whether a pair may be served in the place of what is served now. */
export function mayServe(
  next: Served,
  situation: Pick<Situation, 'now' | 'served' | 'terms' | 'trustedForMs'>,
): boolean {
  const { now, served, terms, trustedForMs } = situation;
  if (served === undefined || served.pair.notAfter <= now) return true;
  if (next.pair.notBefore > now || next.pair.notAfter <= now) return false;
  return same(next.issuer, served.issuer) || isSettled(trustedForMs(next.issuer), terms);
}

/** The CA among several that signed a pair. */
export function issuerOf({ leaf }: Pair, cas: readonly (X509Certificate | undefined)[]): X509Certificate | undefined {
  return cas.find((ca) => ca !== undefined && signedBy(leaf, ca));
}

/** Why a CA must be made. One rotation is brought to its end before the next begins, so that the bundle can't grow. */
function whyAuthority(
  { now, terms, secret }: Situation,
  authority: Authority | undefined,
  bundle: readonly X509Certificate[],
): string | undefined {
  if (authority === undefined) return 'there is no CA';
  const { x509 } = authority;
  if (x509.validToDate <= now) return `the CA expired at ${x509.validToDate.toISOString()}`;
  if (bundle.some((ca) => ca.validToDate > now && !same(ca, x509))) return undefined;
  if (isDue(x509.validToDate, terms.authorityMs, now, terms)) return 'the CA is past two thirds of its life';
  return secret?.content.renew === 'ca' ? 'a new CA was asked for' : undefined;
}

interface Signatures {
  readonly pair: Pair | undefined;
  /** The CA that signed it. */
  readonly issuer: X509Certificate | undefined;
  /** The CA that signs now; undefined when it is only being made. */
  readonly signing: X509Certificate | undefined;
}

/** Why a leaf must be made. One that still serves is kept until all trust the new CA. */
function whyPair(situation: Situation, { pair, issuer, signing }: Signatures): string | undefined {
  const { now, terms, names, secret, trustedForMs } = situation;
  if (pair === undefined) return 'there is no leaf';
  if (issuer === undefined) return 'the leaf is of an unknown CA';
  const end = new Date(Math.min(pair.notAfter.getTime(), issuer.validToDate.getTime()));
  if (end <= now) return `the leaf expired at ${end.toISOString()}`;
  if (pair.notBefore > now) return `the leaf is not valid before ${pair.notBefore.toISOString()}`;
  const missing = names.find((name) => !dnsNames(pair).includes(name));
  if (missing !== undefined) return `the leaf lacks the name ${missing}`;
  if (!same(issuer, signing)) {
    if (signing === undefined || !isSettled(trustedForMs(signing), terms)) return undefined;
    return 'all trust the new CA by now';
  }
  if (isDue(end, terms.leafMs, now, terms)) return 'the leaf is past two thirds of its life';
  return secret?.content.renew === 'leaf' ? 'a new leaf was asked for' : undefined;
}

interface Overlap {
  readonly others: readonly X509Certificate[];
  /** A leaf is being made. */
  readonly made: boolean;
  /** The leaf is, or will be, one of the CA that signs. */
  readonly under: boolean;
}

/** How long CAs that don't sign any more stay trusted: replicas need a while to take the first leaf of the new one. */
function overlapOf({ now, terms, secret, served }: Situation, { others, made, under }: Overlap) {
  const until = secret?.content.overlapUntil;
  if (others.length === 0 || !under) return { over: false, until: undefined };
  const longest = new Date(now.getTime() + terms.overlapMs);
  const odd = until !== undefined && until.getTime() - now.getTime() > 2 * terms.overlapMs;
  if (made || until === undefined || odd) return { over: false, until: longest, why: 'the overlap begins' };
  const inUse = others.some((ca) => same(ca, served?.issuer));
  if (until > now || inUse) return { over: false, until };
  return { over: true, until: undefined, why: 'the overlap is over' };
}

function isSettled(trustedForMs: number | undefined, { settleMs }: Terms): boolean {
  return trustedForMs !== undefined && trustedForMs >= settleMs;
}

/**
 * Whether less than a third of a life is left. Counted from the end, since the beginning of a CA says nothing of when it was
 * made: it is that of the first one.
 */
function isDue(end: Date, lifeMs: number, now: Date, { renewAt }: Terms): boolean {
  return end.getTime() - now.getTime() < lifeMs * renewAt;
}

function isDone(renew: Content['renew'], authority: Plan['authority'], pair: Plan['pair']): boolean {
  return renew === 'ca' ? authority === 'make' : pair === 'make';
}

/** Names that the last leaf had stay: replicas of two versions may each want other ones for a while. */
function namesOf(names: readonly string[], pair: Pair | undefined): readonly string[] {
  const had = pair ? dnsNames(pair) : [];
  return names.every((name) => had.includes(name)) ? names : [...new Set([...names, ...had])];
}

function dnsNames({ leaf }: Pair): readonly string[] {
  const names = leaf.subjectAltName?.split(', ') ?? [];
  return names.filter((name) => name.startsWith('DNS:')).map((name) => name.slice('DNS:'.length));
}

function distinct(cas: readonly (X509Certificate | undefined)[]): X509Certificate[] {
  const byFingerprint = new Map(cas.flatMap((ca) => (ca ? [[ca.fingerprint256, ca] as const] : [])));
  return [...byFingerprint.values()];
}

function sameAll(a: readonly X509Certificate[], b: readonly X509Certificate[]): boolean {
  return a.length === b.length && a.every((ca, at) => same(ca, b[at]));
}
