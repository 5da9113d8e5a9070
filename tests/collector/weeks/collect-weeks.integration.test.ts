import { expect, test } from 'vitest';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { shopsOf } from '#deploy/local/demo/generators/storefronts.ts';
import { Random } from '#deploy/local/demo/world/seeded-random.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { addBrands } from './add-brands.ts';
import { checkLibrary, type Checked, type Library, scanKey } from './claims.ts';
import { chooseBrand, type PlayedFault } from './page-faults.ts';
import {
  planFaults,
  type PlayedShopFault,
  setArchiveFaults,
  setShopFaults,
  shopFaultsInTurn,
} from './played-faults.ts';
import { openWeeks, SOURCES, TOKEN, type Weeks } from './played-weeks.ts';
import { openRecordingService, type RecordingService } from './recording-service.ts';
import { checkShop, shopScans } from './shop-claims.ts';
import { tokenTraces } from './token-traces.ts';

/**
 * An empty service observes the played world over HTTP for simulated weeks; its facts must be those of the world. The
 * long form is `npm run trials -- collect-weeks`.
 */
const environment = inheritedEnvironment();
const settingOf = (name: string, value: number): number => Number(environment[name] ?? value);
const SEED = settingOf('COLLECT_WEEKS_SEED', 11);
const BRANDS = settingOf('COLLECT_WEEKS_BRANDS', 4);
const DAYS = settingOf('COLLECT_WEEKS_DAYS', 3);
/** Highest commit of a round at which the collector is killed, after it has stored the requests for all brands. */
const KILL_AT_MAX = 40;
/** Days between two scans, over which some ads start and end. */
const DAYS_AWAY = 12;
const WAIT_MS = 40 * 60_000;

const sum = (checks: readonly Checked[]): Checked => ({
  completeScans: checks.reduce((total, { completeScans }) => total + completeScans, 0),
  partialScans: checks.reduce((total, { partialScans }) => total + partialScans, 0),
  claims: checks.reduce((total, { claims }) => total + claims, 0),
  unseen: checks.reduce((total, { unseen }) => total + unseen, 0),
});

/** The first round begins after all brands were added. */
const daysOf = (weeks: Weeks): readonly number[] => {
  const first = Math.ceil((weeks.clock.now().getTime() - weeks.dayMs(0)) / DAY_MS);
  return Array.from({ length: DAYS }, (_, index) => first + index);
};

/** Scans that could not read ended ads are complete all the same. */
const scansWithoutEnded = async ({ stack }: Weeks): Promise<readonly string[]> => {
  const { rows } = await stack.database.query<{ domain: string; scanned_at: Date }>(
    `select domain, scanned_at from collecting.target
     where source = 'ads_archive' and scanned_at is not null and detail like '%ended ads were not read%'`,
  );
  return rows.map(({ domain, scanned_at }) => scanKey(domain, scanned_at.toISOString()));
};

const check = async (
  weeks: Weeks,
  service: RecordingService,
  disturbed: Pick<Library, 'faults' | 'withoutEnded'> & {
    readonly shopFaults: readonly PlayedShopFault[];
  } = {
    faults: [],
    withoutEnded: new Set(),
    shopFaults: [],
  },
): Promise<{ readonly library: Checked; readonly shops: Checked }> => {
  const observations = await service.recorded();
  expect(weeks.logged.length).toBeGreaterThan(0);
  const where = { observations, texts: weeks.logged };
  expect(await tokenTraces(weeks.stack.database, TOKEN, where)).toEqual([]);
  const scans = shopScans(observations);
  const library: Checked[] = [];
  const shops: Checked[] = [];
  for (const brand of weeks.brands) {
    library.push(await checkLibrary(weeks, service.eventStore, brand, disturbed));
    shops.push(checkShop(weeks, brand, scans.get(brand.brand.domain) ?? [], disturbed.shopFaults));
  }
  return { library: sum(library), shops: sum(shops) };
};

const timed = async <T>(what: string, run: () => Promise<T>): Promise<T> => {
  const started = performance.now();
  const result = await run();
  console.log(`${what}: ${((performance.now() - started) / 1_000).toFixed(1)} s`);
  return result;
};

test(
  'an undisturbed collector reports exactly the changes of the world, day by day',
  async () => {
    await using weeks = await openWeeks(SEED, BRANDS);
    await using service = await openRecordingService(weeks.stack);
    const { found, decided } = await timed(`${BRANDS} brands added`, () => addBrands(weeks));
    expect(found).toBeGreaterThan(0);
    expect(found + decided).toBe(weeks.brands.flatMap(({ pages }) => pages).length);
    for (const day of daysOf(weeks)) {
      const before = weeks.world.requests.length;
      for (const source of SOURCES) await timed(`day ${day}, ${source}`, () => weeks.round(source, day));
      const asked = weeks.world.requests.slice(before);
      expect(asked.length).toBeGreaterThan(0);
      expect(new Set(asked).size, `each page is asked for once on day ${day}`).toBe(asked.length);
    }
    const { library, shops } = await timed('recording and comparison', () => check(weeks, service));
    expect(library.completeScans).toBe(weeks.brands.length * DAYS);
    expect([library.partialScans, shops.partialScans]).toEqual([0, 0]);
    expect(library.claims).toBeGreaterThan(weeks.brands.length);
    expect(shops.claims).toBeGreaterThan(0);
  },
  WAIT_MS,
);

test(
  'an ad that starts and ends between two scans is reported as ended, and not as seen running',
  async () => {
    await using weeks = await openWeeks(SEED, BRANDS);
    await using service = await openRecordingService(weeks.stack);
    await addBrands(weeks);
    const [first = 0] = daysOf(weeks);
    for (const day of [first, first + DAYS_AWAY]) await weeks.round('ads_archive', day);
    const { library } = await check(weeks, service);
    expect(library).toMatchObject({ completeScans: 2 * weeks.brands.length, partialScans: 0 });
    expect(library.unseen).toBeGreaterThan(0);
  },
  WAIT_MS,
);

test(
  'under every fault, and killed at random commits, it claims nothing false and misses nothing in complete scans',
  async () => {
    await using weeks = await openWeeks(SEED + 1, BRANDS);
    await using service = await openRecordingService(weeks.stack);
    const random = new Random(SEED, 1);
    await timed(`${BRANDS} brands added`, () => addBrands(weeks, random));
    const shopBrands = new Set(shopsOf(weeks.placed.world));
    const shops = weeks.brands.filter(({ brand }) => shopBrands.has(brand));
    const planned = planFaults(DAYS, random);
    const faults: PlayedFault[] = [];
    const shopFaults: PlayedShopFault[] = [];
    const shopFaultNames = shopFaultsInTurn(random);
    const withoutEnded = new Set<string>();
    for (const [index, day] of daysOf(weeks).entries()) {
      const names = planned[index] ?? [];
      const brand = chooseBrand(weeks, random, names, faults);
      setArchiveFaults(weeks, names, brand);
      const on = utcDateOfMs(weeks.dayMs(day));
      for (const name of names) faults.push({ name, pageId: brand.pages[0]?.id ?? '', on });
      await timed(`day ${day}, ${names.join(' and ')}`, () =>
        weeks.round('ads_archive', day, [BRANDS + random.between(1, KILL_AT_MAX)]),
      );
      for (const scan of await scansWithoutEnded(weeks)) withoutEnded.add(scan);
      // Half of the shops: one that rests after a fault has none on the next day.
      const disturbed = shops.filter((_, number) => number % 2 === index % 2);
      for (const [domain, name] of setShopFaults(weeks, shopFaultNames, disturbed))
        shopFaults.push({ name, domain, on });
      await timed(`day ${day}, shops`, () =>
        weeks.round('storefront', day, [BRANDS + random.between(1, KILL_AT_MAX)]),
      );
    }
    const { library, shops: catalogues } = await timed('recording and comparison', () =>
      check(weeks, service, { faults, withoutEnded, shopFaults }),
    );
    console.log({ library, catalogues });
    expect(library.completeScans).toBeGreaterThan(0);
    expect(catalogues.completeScans).toBeGreaterThan(0);
  },
  WAIT_MS,
);
