import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { FigureName } from '#contracts/values/figures.ts';
import { CLAIM_COMPARISONS, type ClaimComparison } from '#contracts/resources/corpus/coverage.ts';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { on } from '#tests/dsl/api.ts';
import { expectedFigures } from '../reference/model.ts';
import { place } from '../reference/service/placement.ts';
import { at, dateOf, link, profile, scan, shown } from '../reference/sketch.ts';
import type { Scan, ShownAd, World, WorldObservation } from '../reference/world.ts';
import { untilPassed } from '../stack/read-models.ts';
import { type ApiStack, type Key, openApiStack } from './fixtures/stack.ts';

/**
 * Worlds with a truth that scans show in part: the figure of a world that complete scans of every day show never lies
 * outside of the bounds, and no verdict about it is wrong. BOUNDS_WORLDS=300 is the long form.
 */
const { BOUNDS_WORLDS, BOUNDS_SEED } = readSettings(
  z.object({
    BOUNDS_WORLDS: z.coerce.number().int().positive().default(8),
    BOUNDS_SEED: z.coerce.number().int().default(20_261_129),
  }),
);
const CLAIMS_OF_WORLD = 40;
const LIMIT_MS = 120_000 + 10_000 * BOUNDS_WORLDS;

const BRAND = 'b1.example';
const DAYS = 10;
const ADS_MAX = 6;
const HOURS = ['10:00', '05:00', '06:00', '07:00'];
const LINKED = ['P1', 'P2'];
/** Ads on this page count once a scan shows them. */
const UNLINKED = 'P3';
const COUNTRIES = ['GB', 'US'];
/** After the last day of the worlds. */
const NOW = new Date(at(DAYS + 2));

const adDraft = fc.record({
  page: fc.constantFrom('P1', 'P1', 'P2', UNLINKED),
  countries: fc.subarray(COUNTRIES, { minLength: 1 }),
  begins: fc.integer({ min: -1, max: DAYS - 1 }),
  runs: fc.option(fc.integer({ min: 1, max: 6 })),
  /** The library gives the day before as start date where the ad began after the scan of that day. */
  startedBefore: fc.nat(1),
  hidesStart: fc.nat(4).map((number) => number === 0),
  /** The library shows it as ended on the day after its last one. */
  showsEnd: fc.boolean(),
  /** A complete scan of this day misses the ad, if an earlier one showed it. */
  missedOn: fc.option(fc.nat(DAYS - 1)),
});
type Ad = typeof adDraft extends fc.Arbitrary<infer T> ? T : never;

const worldDraft = fc.record({
  hasTwoPages: fc.boolean(),
  hasTwoCountries: fc.boolean(),
  isWhole: fc.nat(4).map((number) => number === 0),
  ads: fc.array(adDraft, { minLength: 1, maxLength: ADS_MAX }),
  days: fc.array(
    fc.record({
      hour: fc.nat(HOURS.length - 1),
      splits: fc.constantFrom('none', 'none', 'pages', 'countries'),
      fates: fc.array(fc.constantFrom('kept', 'kept', 'kept', 'dropped', 'cut'), {
        minLength: 2,
        maxLength: 2,
      }),
      cutAds: fc.nat(2 ** ADS_MAX - 1),
      scansUnlinked: fc.nat(3).map((number) => number === 0),
    }),
    { minLength: DAYS, maxLength: DAYS },
  ),
  isShuffled: fc.boolean(),
});
type Draft = typeof worldDraft extends fc.Arbitrary<infer T> ? T : never;

const isRunning = ({ begins, runs }: Ad, day: number): boolean =>
  begins <= day && (runs === null || day < begins + runs);
const hasJustEnded = ({ begins, runs, showsEnd }: Ad, day: number): boolean =>
  showsEnd && runs !== null && day === begins + runs;

type Look = { readonly day: number; readonly whole: Scan; readonly seen: Scan | null };

/** Scans as they would be of every day, and as they were made of them. */
const looksOf = (draft: Draft): readonly Look[] => {
  const linked = draft.hasTwoPages ? LINKED : LINKED.slice(0, 1);
  const asked = draft.hasTwoCountries ? COUNTRIES : COUNTRIES.slice(1);
  const shownBefore = new Set<number>();
  let number = 0;
  return draft.days.flatMap(({ hour, splits, fates, cutAds, scansUnlinked }, day): Look[] => {
    const parts =
      splits === 'pages'
        ? linked.map((page) => ({ pages: [page], countries: asked }))
        : splits === 'countries'
          ? asked.map((country) => ({ pages: linked, countries: [country] }))
          : [{ pages: linked, countries: asked }];
    const before = new Set(shownBefore);
    const scanOf = (pages: readonly string[], countries: readonly string[], fate: string): Look => {
      number += 1;
      const rows = draft.ads.flatMap((ad, index): [number, ShownAd][] => {
        const isListed = pages.includes(ad.page) && ad.countries.some((one) => countries.includes(one));
        const isMissed = ad.missedOn === day && before.has(index);
        if (!isListed || isMissed || !(isRunning(ad, day) || hasJustEnded(ad, day))) return [];
        const startedOn = ad.hidesStart ? null : dateAt(ad.begins - ad.startedBefore);
        return [[index, shown(`a${index + 1}`, { page: ad.page, isActive: isRunning(ad, day), startedOn })]];
      });
      const time = at(day, `${(HOURS[hour] ?? '').slice(0, 3)}${String(number % 60).padStart(2, '0')}`);
      const fields = { pages, countries };
      const whole = scan(
        `s${number}`,
        time,
        rows.map(([, ad]) => ad),
        fields,
      );
      if (fate === 'dropped') return { day, whole, seen: null };
      const left = fate === 'cut' ? rows.filter(([index]) => (cutAds >> index) % 2 === 1) : rows;
      for (const [index] of left) shownBefore.add(index);
      const seen = { ...whole, complete: fate !== 'cut', ads: left.map(([, ad]) => ad) };
      return { day, whole, seen };
    };
    return [
      ...parts.map(({ pages, countries }, index) =>
        scanOf(pages, countries, draft.isWhole ? 'kept' : (fates[index] ?? 'kept')),
      ),
      ...(scansUnlinked ? [scanOf([UNLINKED], asked, 'kept')] : []),
    ];
  });
};

const dateAt = (day: number): string =>
  new Date(Date.parse(dateOf(0)) + day * 86_400_000).toISOString().slice(0, 10);

const worldOf = (draft: Draft, scans: readonly Scan[]): World => {
  const linked = draft.hasTwoPages ? LINKED : LINKED.slice(0, 1);
  const first: WorldObservation[] = [
    profile(at(0, '01:00'), BRAND),
    ...linked.map((page, index) => link(at(0, `02:0${index}`), page)),
  ];
  return { brands: [BRAND], observations: [...first, ...scans] };
};

type Question = { readonly figure: FigureName; readonly from?: string; readonly to?: string };

const QUESTIONS: readonly Question[] = [
  { figure: 'active_ads' },
  { figure: 'total_ads' },
  ...(['new_ads', 'retired_ads'] as const).flatMap((figure) =>
    [
      [4, 6],
      [3, 9],
      [5, 5],
      [7, 8],
    ].map(([from = 0, to = 0]) => ({ figure, from: dateOf(from), to: dateOf(to) })),
  ),
];

/** Bounds are about the countries that scans asked for by then. */
const truthOf = (draft: Draft, looks: readonly Look[], { figure, from = '', to = '' }: Question): number => {
  const made = looks.flatMap(({ seen }) => seen ?? []);
  const newest =
    made
      .map((one) => one.at.slice(0, 10))
      .toSorted()
      .at(-1) ?? '';
  const end = to === '' ? newest : to;
  const ofLinked = made.filter((one) => one.at.slice(0, 10) <= end && !one.pages.includes(UNLINKED));
  const asked = new Set(ofLinked.flatMap(({ countries }) => countries));
  const isCounted = (ad: Ad, index: number): boolean =>
    ad.page === UNLINKED
      ? made.some(({ ads }) => ads.some((one) => one.ad === `a${index + 1}`))
      : (draft.hasTwoPages || ad.page === 'P1') && ad.countries.some((one) => asked.has(one));
  if (figure === 'active_ads')
    return draft.ads.filter((ad, index) => isCounted(ad, index) && dateAtRuns(ad, newest)).length;
  const wholes = looks.flatMap(({ whole }) => {
    const countries = whole.countries.filter((one) => asked.has(one));
    const isOther = whole.pages.includes(UNLINKED);
    const ads = whole.ads.filter((one) => {
      const ad = draft.ads[Number(one.ad.slice(1)) - 1];
      return isOther || ad?.countries.some((country) => countries.includes(country));
    });
    return isOther ? [whole] : countries.length > 0 ? [{ ...whole, countries, ads }] : [];
  });
  const figures = expectedFigures(worldOf(draft, wholes));
  if (figure === 'total_ads') return figures.brands[BRAND]?.total ?? 0;
  return Object.entries(figures.days)
    .filter(([key]) => key.slice(-10) >= from && key.slice(-10) <= to)
    .reduce((sum, [, day]) => sum + (figure === 'new_ads' ? day.new : day.retired), 0);
};

const dateAtRuns = (ad: Ad, date: string): boolean =>
  isRunning(ad, Math.round((Date.parse(date) - Date.parse(dateOf(0))) / 86_400_000));

const HOLDS: Readonly<Record<ClaimComparison, (truth: number, value: number) => boolean>> = {
  at_least: (truth, value) => truth >= value,
  at_most: (truth, value) => truth <= value,
  equals: (truth, value) => truth === value,
  more_than: (truth, value) => truth > value,
  less_than: (truth, value) => truth < value,
};

type Bounds = {
  readonly value: number;
  readonly at_least: number;
  readonly at_most: number | null;
  readonly uncovered_days: readonly string[];
};

let stack: ApiStack;
let app: FastifyInstance;
let key: Key;
beforeAll(async () => {
  stack = await openApiStack();
  app = await stack.api({ clock: { now: () => NOW }, requestsPerMinute: 1_000_000 });
  key = await stack.key();
}, LIMIT_MS);
afterAll(() => stack[Symbol.asyncDispose]());

const record = async (world: World, number: number): Promise<string> => {
  const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
  const { messagesOf, brandIdOf } = place(world, number);
  await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
  for (const message of world.observations.flatMap(messagesOf)) await intake.submit(message);
  return brandIdOf(BRAND);
};

describe('bounds and verdicts', () => {
  it(
    'hold for the figures of generated worlds that scans show in part',
    async () => {
      const drafts = fc.sample(worldDraft, { numRuns: BOUNDS_WORLDS, seed: BOUNDS_SEED });
      const claims = fc.sample(
        fc.record({
          question: fc.nat(QUESTIONS.length - 1),
          comparison: fc.constantFrom(...CLAIM_COMPARISONS),
          off: fc.integer({ min: -2, max: 2 }),
        }),
        { numRuns: BOUNDS_WORLDS * CLAIMS_OF_WORLD, seed: BOUNDS_SEED },
      );
      const verdicts: Record<string, number> = {};
      let equal = 0;
      let unbounded = 0;
      for (const [index, draft] of drafts.entries()) {
        const looks = looksOf(draft);
        const made = looks.flatMap(({ seen }) => seen ?? []);
        const world = worldOf(draft, draft.isShuffled ? made.toReversed() : made);
        const id = await record(world, index + 1);
        await untilPassed(stack.pool, await stack.eventStore.head());
        const truths = QUESTIONS.map((question) => truthOf(draft, looks, question));
        for (const [number, question] of QUESTIONS.entries()) {
          const query = new URLSearchParams(question as Record<string, string>).toString();
          const { data } = await on(app).get(`/v1/brands/${id}/bounds?${query}`, { key });
          const { value, at_least, at_most, uncovered_days } = data as Bounds;
          const told = `world ${index} ${query}: ${JSON.stringify(data)}, true ${truths[number]}\n${JSON.stringify(draft)}`;
          const truth = truths[number] ?? 0;
          expect(at_least, told).toBeLessThanOrEqual(truth);
          expect(at_least, told).toBeLessThanOrEqual(value);
          if (at_most === null) unbounded += 1;
          else expect(at_most, told).toBeGreaterThanOrEqual(Math.max(truth, value));
          const isCovered = question.from !== undefined && uncovered_days.length === 0;
          if (isCovered) expect([at_least, at_most], told).toEqual([value, value]);
          if (at_least === at_most) equal += 1;
        }
        for (const claim of claims.slice(index * CLAIMS_OF_WORLD, (index + 1) * CLAIMS_OF_WORLD)) {
          const { comparison } = claim;
          const truth = truths[claim.question] ?? 0;
          const value = Math.max(0, truth + claim.off);
          const body = { brand: id, ...QUESTIONS[claim.question], comparison, value };
          const reply = await on(app).post('/v1/claims/check', { key, body });
          const { verdict } = reply.data as { verdict: string };
          verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
          if (verdict === 'not_observable') continue;
          const told = `world ${index}: ${JSON.stringify(body)} with ${truth}: ${JSON.stringify(reply.data)}`;
          expect(verdict, told).toBe(HOLDS[comparison](truth, value) ? 'supported' : 'contradicted');
        }
      }
      expect(equal).toBeGreaterThan(2 * BOUNDS_WORLDS);
      expect(unbounded).toBeGreaterThan(2 * BOUNDS_WORLDS);
      for (const verdict of ['supported', 'contradicted', 'not_observable'])
        expect(verdicts[verdict], JSON.stringify(verdicts)).toBeGreaterThan(3 * BOUNDS_WORLDS);
    },
    LIMIT_MS,
  );
});

describe('checkClaim 200', () => {
  const claimOf = (brand: string, fields: object = {}) => ({
    brand,
    figure: 'active_ads',
    comparison: 'at_least',
    value: 1,
    ...fields,
  });

  it('finds the brand by uuid, slug, older slug, and domain, and appends no event', async () => {
    const [brand] = await stack.seed(['claimed']);
    const head = await stack.eventStore.head();
    const names = [brand?.id ?? '', 'claimed', 'claimed-com', 'claimed.com', 'www.claimed.com'];
    // One after the other, because heavy reads of a workspace wait for one another for a limited time.
    for (const name of names) {
      const { status, data } = await on(app).post('/v1/claims/check', { key, body: claimOf(name) });
      expect([name, status, data]).toMatchObject([name, 200, { brand: { id: brand?.id } }]);
    }
    expect(await stack.eventStore.head()).toBe(head);
  });

  it('names the proof of the figure as of the answer', async () => {
    const [brand] = await stack.seed(['proven']);
    const window = { figure: 'new_ads', from: dateOf(1), to: dateOf(2) };
    const { data } = await on(app).post('/v1/claims/check', { key, body: claimOf('proven', window) });
    expect(data).toMatchObject({
      claimed: 1,
      comparison: 'at_least',
      verdict: 'not_observable',
      at_least: 0,
      at_most: null,
      proof_url: `https://api.test/v1/brands/${brand?.id}/proof?figure=new_ads&from=${dateOf(1)}&to=${dateOf(2)}&as_of=${encodeURIComponent(NOW.toISOString())}`,
    });
  });
});

describe('checkClaim 400', () => {
  it.each([
    ['without a comparison', { comparison: undefined }, 'comparison', 'invalid_value'],
    ['with a number below zero', { value: -1 }, 'value', 'too_small'],
    ['without the window of the figure', { figure: 'new_ads' }, 'from', 'custom'],
    ['with a text that names no brand', { brand: 'a b' }, 'brand', 'invalid_format'],
    [
      'with a window before all ads',
      { figure: 'retired_ads', from: '0001-01-03', to: '0001-01-04' },
      'from',
      'custom',
    ],
    ['with a window to come', { figure: 'new_ads', from: dateOf(1), to: '2900-01-01' }, 'to', 'custom'],
    ['with a day to come', { figure: 'new_ads', from: dateOf(9), to: dateOf(13) }, 'to', 'window_in_future'],
  ])('%s', async (_, fields, path, code) => {
    const body = { brand: 'any', figure: 'active_ads', comparison: 'equals', value: 1, ...fields };
    const reply = await on(app).post('/v1/claims/check', { key, body });
    expect(reply.status).toBe(400);
    expect(reply.error.details?.[0]).toMatchObject({ path, code });
  });
});

describe('checkClaim 404', () => {
  it.each([randomUUID(), 'no-such-brand', 'no-such-brand.example'])('for %s', async (brand) => {
    const body = { brand, figure: 'total_ads', comparison: 'equals', value: 1 };
    expect((await on(app).post('/v1/claims/check', { key, body })).status).toBe(404);
  });
});

describe('checkClaim 409', () => {
  it('for an idempotency key of another claim', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { brand: 'any', figure: 'total_ads', comparison: 'equals', value: 1 };
    await stack.seed(['any']);
    const first = await on(app).post('/v1/claims/check', { key, headers, body });
    const again = await on(app).post('/v1/claims/check', { key, headers, body });
    const other = await on(app).post('/v1/claims/check', { key, headers, body: { ...body, value: 2 } });
    expect([first.status, again.data, other.status]).toEqual([200, first.data, 409]);
  });
});
