import { beforeAll, describe, expect, it } from 'vitest';
import type { Authority, Content } from './content.ts';
import { carryOut } from './make.ts';
import type { Pair } from './pair.ts';
import { clockProblem, decide, mayServe, type Situation } from './plan.ts';
import { termsFor } from './terms.ts';
import { authority, content, inDays, leaf, NAMES, NOW } from './testing.ts';

/** 90 days of a leaf, 3600 of a CA: due with 30 and 1200 left. The overlap is a day, settling half a minute. */
const TERMS = termsFor(90 * 24 * 60 * 60 * 1000);
const SETTLED = 31_000;

let old: Authority;
let fresh: Authority;
let oldLeaf: Pair;
let freshLeaf: Pair;
beforeAll(async () => {
  old = await authority(-2500, 1100);
  fresh = await authority(-2500, 3600);
  oldLeaf = await leaf(old, 60);
  freshLeaf = await leaf(fresh, 90);
});

interface Case {
  /** What the Secret holds; undefined when there is none. */
  readonly secret: Content | undefined;
  readonly faults?: readonly string[];
  readonly held?: Content;
  readonly serving?: readonly [Pair, Authority];
  readonly trusted?: ReadonlyMap<Authority, number>;
  readonly now?: Date;
}

function situation({ secret, faults = [], held, serving, trusted, now = NOW }: Case): Situation {
  return {
    now,
    terms: TERMS,
    names: NAMES,
    secret: secret && { content: secret, faults },
    held,
    served: serving && { pair: serving[0], issuer: serving[1].x509 },
    trustedForMs: (ca) => [...(trusted ?? [])].find(([{ x509 }]) => x509.raw.equals(ca.raw))?.[1],
  };
}

/** A plan in words: which CA signs, which leaf, which other CAs are trusted. */
function told(plan: ReturnType<typeof decide>) {
  const nameOf = (x: { raw: Buffer }) => {
    const all = { old: old.x509, fresh: fresh.x509, oldLeaf: oldLeaf.leaf, freshLeaf: freshLeaf.leaf };
    return Object.entries(all).find(([, { raw }]) => raw.equals(x.raw))?.[0] ?? 'another';
  };
  return {
    authority: plan.authority === 'make' ? 'make' : nameOf(plan.authority.x509),
    pair: plan.pair === 'make' ? 'make' : nameOf(plan.pair.leaf),
    others: plan.others.map(nameOf),
    ...(plan.overlapUntil ? { overlapUntil: plan.overlapUntil } : {}),
    why: plan.why,
  };
}

const bundle = (...of: Authority[]) => of.map(({ x509 }) => x509);

describe('the Secret', () => {
  const cases: Record<string, () => [Case, object]> = {
    'is made where there is none': () => [
      { secret: undefined },
      {
        authority: 'make',
        pair: 'make',
        others: [],
        why: ['there is no Secret', 'there is no CA', 'there is no leaf'],
      },
    ],
    'is filled where an empty one was made beforehand': () => [
      { secret: content(undefined, undefined) },
      { authority: 'make', pair: 'make', others: [], why: ['there is no CA', 'there is no leaf'] },
    ],
    'is left alone while all is well': () => [
      { secret: content(fresh, freshLeaf), serving: [freshLeaf, fresh] },
      { authority: 'fresh', pair: 'freshLeaf', others: [], why: [] },
    ],
    'is made anew as it was when someone deleted it': () => [
      { secret: undefined, held: content(fresh, freshLeaf), serving: [freshLeaf, fresh] },
      { authority: 'fresh', pair: 'freshLeaf', others: [], why: ['there is no Secret'] },
    ],
    'is mended from memory when someone wrote nonsense into it': () => [
      {
        secret: content(undefined, undefined),
        faults: ['ca.crt: not a PEM certificate', 'tls.crt: not a PEM certificate'],
        held: content(fresh, freshLeaf),
        serving: [freshLeaf, fresh],
      },
      {
        authority: 'fresh',
        pair: 'freshLeaf',
        others: [],
        why: [
          'ca.crt: not a PEM certificate',
          'tls.crt: not a PEM certificate',
          'the CA is missing',
          'the leaf is missing',
          'the bundle is another one',
        ],
      },
    ],
    'gets a new CA where the key of the old one is lost, and the old leaf serves on': () => [
      {
        secret: content(undefined, oldLeaf, { bundle: bundle(old) }),
        faults: ['ca.key: not a PEM private key'],
      },
      {
        authority: 'make',
        pair: 'oldLeaf',
        others: ['old'],
        why: ['ca.key: not a PEM private key', 'there is no CA'],
      },
    ],
    'gets a new leaf when the one in it has the key of another, and nothing is in memory': () => [
      { secret: content(fresh, undefined), faults: ['tls.key: not the key of tls.crt'] },
      { authority: 'fresh', pair: 'make', others: [], why: ['tls.key: not the key of tls.crt', 'there is no leaf'] },
    ],
    'gets its bundle back when that was emptied': () => [
      { secret: content(fresh, freshLeaf, { bundle: [] }) },
      { authority: 'fresh', pair: 'freshLeaf', others: [], why: ['the bundle is another one'] },
    ],
    'of a backup keeps the CA that is served now trusted': () => [
      { secret: content(fresh, freshLeaf), held: content(old, oldLeaf), serving: [oldLeaf, old] },
      {
        authority: 'fresh',
        pair: 'freshLeaf',
        others: ['old'],
        overlapUntil: inDays(1),
        why: ['the overlap begins', 'the bundle is another one'],
      },
    ],
  };
  for (const [name, make] of Object.entries(cases)) {
    it(name, () => {
      const [given, expected] = make();
      expect(told(decide(situation(given)))).toEqual(expected);
    });
  }
});

describe('a leaf', () => {
  it.each([
    ['with more than a third of its life left', 31, undefined],
    ['with less than a third of its life left', 29, 'the leaf is past two thirds of its life'],
    ['that has expired', -1, `the leaf expired at ${inDays(-1).toISOString()}`],
  ])('%s is renewed when it should be', async (_, days, why) => {
    const secret = content(fresh, await leaf(fresh, days));
    const plan = decide(situation({ secret }));
    expect({ pair: plan.pair === 'make', why: plan.why }).toEqual({ pair: why !== undefined, why: why ? [why] : [] });
  });

  it('is renewed after a jump of the clock, and again when the clock goes back', async () => {
    const later = inDays(400);
    const plan = decide(situation({ secret: content(fresh, freshLeaf), now: later }));
    expect(plan.why).toEqual([`the leaf expired at ${inDays(90).toISOString()}`]);
    const made = await carryOut(plan, TERMS, later);
    expect([made.pair?.notAfter, decide(situation({ secret: made, now: later })).why]).toEqual([inDays(490), []]);

    const back = decide(situation({ secret: made }));
    expect(back.why).toEqual([`the leaf is not valid before ${made.pair?.notBefore.toISOString()}`]);
    expect((await carryOut(back, TERMS, NOW)).pair?.notAfter).toEqual(inDays(90));
  });

  it('holds from an hour before it was made, but from no time at which its CA does not', async () => {
    const made = await carryOut(decide(situation({ secret: content(fresh, undefined) })), TERMS, NOW);
    expect(made.pair?.notBefore).toEqual(inDays(-1 / 24));
    const young = await authority(-0.01, 3600);
    const under = await carryOut(decide(situation({ secret: content(young, undefined) })), TERMS, NOW);
    expect(under.pair?.notBefore).toEqual(young.x509.validFromDate);
  });

  it('that outlives its CA counts as expired with it', async () => {
    const short = await authority(-10, 5);
    const plan = decide(situation({ secret: content(short, await leaf(short, 80)), now: inDays(6) }));
    expect(plan.why).toContain(`the leaf expired at ${inDays(5).toISOString()}`);
    expect([plan.authority, plan.pair]).toEqual(['make', 'make']);
  });

  it('never outlives the CA that it is made under', async () => {
    const short = await authority(-10, 5);
    const made = await carryOut(
      { ...decide(situation({ secret: content(short, undefined) })), authority: short },
      TERMS,
      NOW,
    );
    expect(made.pair?.notAfter).toEqual(inDays(5));
  });

  it('of another name is made for both names', async () => {
    const secret = content(fresh, await leaf(fresh, 90, ['other']));
    const plan = decide(situation({ secret }));
    expect(plan).toMatchObject({ pair: 'make', names: [...NAMES, 'other'], why: ['the leaf lacks the name gpugate'] });
  });

  it('of an unknown CA is made anew', async () => {
    const secret = content(fresh, await leaf(await authority(-1, 90), 90));
    expect(decide(situation({ secret })).why).toEqual(['the leaf is of an unknown CA']);
  });

  it('is made when someone asks for it, once', async () => {
    const secret = content(fresh, freshLeaf, { renew: 'leaf' });
    expect(decide(situation({ secret }))).toMatchObject({
      pair: 'make',
      renew: undefined,
      why: ['a new leaf was asked for'],
    });
  });
});

describe('a rotation of the CA', () => {
  it('begins at two thirds of its life: the new one joins the bundle, and the leaf stays', () => {
    const secret = content(old, oldLeaf);
    expect(told(decide(situation({ secret, serving: [oldLeaf, old] })))).toEqual({
      authority: 'make',
      pair: 'oldLeaf',
      others: ['old'],
      why: ['the CA is past two thirds of its life'],
    });
  });

  const between = () => content(fresh, oldLeaf, { bundle: bundle(fresh, old) });
  it.each<[string, number | undefined]>([
    ['no configuration has it', undefined],
    ['the configurations have had it for a second', 1000],
  ])('waits while %s', (_, ms) => {
    const trusted = new Map([[old, 1e9], ...(ms === undefined ? [] : [[fresh, ms] as const])]);
    expect(told(decide(situation({ secret: between(), serving: [oldLeaf, old], trusted }))).why).toEqual([]);
  });

  it('goes on once all have trusted the new CA for a while: a leaf under it, and the overlap begins', () => {
    const trusted = new Map([[fresh, SETTLED]]);
    expect(told(decide(situation({ secret: between(), serving: [oldLeaf, old], trusted })))).toEqual({
      authority: 'fresh',
      pair: 'make',
      others: ['old'],
      overlapUntil: inDays(1),
      why: ['all trust the new CA by now', 'the overlap begins'],
    });
  });

  it('does not wait once the old leaf has expired', async () => {
    const secret = content(fresh, await leaf(old, -1), { bundle: bundle(fresh, old) });
    expect(decide(situation({ secret })).pair).toBe('make');
  });

  const overlapping = (days: number) =>
    content(fresh, freshLeaf, { bundle: bundle(fresh, old), overlapUntil: inDays(days) });
  it('keeps the old CA until the overlap is over', () => {
    const during = decide(situation({ secret: overlapping(0.5), serving: [freshLeaf, fresh] }));
    expect(told(during)).toMatchObject({ others: ['old'], why: [] });
    const after = decide(situation({ secret: overlapping(-0.1), serving: [freshLeaf, fresh] }));
    expect(told(after)).toEqual({
      authority: 'fresh',
      pair: 'freshLeaf',
      others: [],
      why: ['the overlap is over', 'the bundle is another one'],
    });
  });

  it('keeps the old CA for longer while this replica still serves a leaf of it', () => {
    const plan = decide(situation({ secret: overlapping(-0.1), serving: [oldLeaf, old] }));
    expect(told(plan)).toMatchObject({ others: ['old'], why: [] });
  });

  it.each([
    ['was lost', undefined],
    ['lies further off than any overlap', inDays(30)],
  ])('counts the overlap afresh when its end %s', (_, overlapUntil) => {
    const secret = content(fresh, freshLeaf, { bundle: bundle(fresh, old), overlapUntil });
    const plan = decide(situation({ secret, serving: [freshLeaf, fresh] }));
    expect(told(plan)).toMatchObject({ overlapUntil: inDays(1), others: ['old'], why: ['the overlap begins'] });
  });

  it('is done when someone asks for it, after the one that is under way', () => {
    const asked = content(fresh, freshLeaf, { renew: 'ca' });
    expect(decide(situation({ secret: asked }))).toMatchObject({
      authority: 'make',
      renew: undefined,
      why: ['a new CA was asked for'],
    });
    const early = { ...overlapping(0.5), renew: 'ca' as const };
    expect(decide(situation({ secret: early, serving: [freshLeaf, fresh] }))).toMatchObject({ renew: 'ca', why: [] });
  });

  it('makes everything at once where the CA has expired', async () => {
    const gone = await authority(-3600, -1);
    const plan = decide(situation({ secret: content(gone, await leaf(gone, -2)) }));
    expect(told(plan)).toMatchObject({ authority: 'make', pair: 'make', others: [] });
  });

  it('makes a CA that is valid by every clock by which the last one was', () => {
    expect(decide(situation({ secret: content(old, oldLeaf) })).notBefore).toEqual(old.x509.validFromDate);
  });

  it('comes to its end, step by step, and then nothing is left to do', async () => {
    const trusted = new Map<Authority, number>();
    let secret = content(old, oldLeaf);
    let now = NOW;
    let serving: readonly [Pair, Authority] = [oldLeaf, old];
    const steps: string[][] = [];
    for (let step = 0; step < 4; step += 1) {
      const plan = decide(situation({ secret, held: secret, serving, trusted, now }));
      steps.push([...plan.why]);
      if (plan.why.length === 0) break;
      secret = await carryOut(plan, TERMS, now);
      trusted.set(secret.authority as Authority, SETTLED);
      serving = [secret.pair as Pair, secret.pair === oldLeaf ? old : (secret.authority as Authority)];
      if (secret.overlapUntil) now = new Date(secret.overlapUntil.getTime());
    }
    expect(steps).toEqual([
      ['the CA is past two thirds of its life'],
      ['all trust the new CA by now', 'the overlap begins'],
      ['the overlap is over', 'the bundle is another one'],
      [],
    ]);
    expect(secret.bundle).toHaveLength(1);
  });
});

describe('a CA that is not valid yet', () => {
  it('is a problem of a clock, and nothing is made', async () => {
    const future = await authority(1, 3600);
    const { secret, ...rest } = situation({ secret: content(future, await leaf(future, 90)) });
    expect(clockProblem({ secret, ...rest })).toMatch(/^the CA is not valid before .*; set it right$/);
    expect(clockProblem(situation({ secret: content(fresh, freshLeaf) }))).toBeUndefined();
  });
});

describe('a pair of the Secret', () => {
  const next = () => ({ pair: freshLeaf, issuer: fresh.x509 });
  it.each<[string, () => Case, boolean]>([
    ['is served by a replica that has none', () => ({ secret: undefined }), true],
    ['is not served while its CA is not trusted', () => ({ secret: undefined, serving: [oldLeaf, old] }), false],
    [
      'is not served as soon as its CA is trusted, since API servers learn of it later',
      () => ({ secret: undefined, serving: [oldLeaf, old], trusted: new Map([[fresh, 0]]) }),
      false,
    ],
    [
      'is served once its CA has been trusted for a while',
      () => ({ secret: undefined, serving: [oldLeaf, old], trusted: new Map([[fresh, SETTLED]]) }),
      true,
    ],
    ['of the same CA is served at once', () => ({ secret: undefined, serving: [freshLeaf, fresh] }), true],
    [
      'is served in the place of one that has expired',
      () => ({ secret: undefined, serving: [oldLeaf, old], now: inDays(61) }),
      true,
    ],
  ])('%s', (_, make, expected) => {
    expect(mayServe(next(), situation(make()))).toBe(expected);
  });

  it('that has expired is not served in the place of one that has not', async () => {
    const expired = { pair: await leaf(fresh, -1), issuer: fresh.x509 };
    expect(mayServe(expired, situation({ secret: undefined, serving: [freshLeaf, fresh] }))).toBe(false);
  });
});
