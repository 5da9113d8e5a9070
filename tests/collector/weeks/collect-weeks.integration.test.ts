import { expect, test } from 'vitest';
import type { Observation } from '#contracts/observations/index.ts';
import { Random } from '#deploy/local/demo/world/seeded-random.ts';
import { type IntakeStack, openIntakeStack } from '#tests/ingest/fixtures/intake-stack.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { checkLibrary, type Checked, checkShop } from './claims.ts';
import { ARCHIVE_FAULTS, setArchiveFault, setShopFaults } from './played-faults.ts';
import { openWeeks, SOURCES, type Weeks } from './played-weeks.ts';

/**
 * Simulated weeks: an empty service observes the played world over HTTP, day by day, and its facts are compared with the
 * world's own. The long form is `npm run trials -- collect-weeks`.
 */
const environment = inheritedEnvironment();
const settingOf = (name: string, value: number): number => Number(environment[name] ?? value);
const SEED = settingOf('COLLECT_WEEKS_SEED', 11);
const BRANDS = settingOf('COLLECT_WEEKS_BRANDS', 4);
const DAYS = settingOf('COLLECT_WEEKS_DAYS', 3);
/** Highest commit of a round at which the collector is killed. */
const KILL_AT_MAX = 40;
const WAIT_MS = 40 * 60_000;

/** Records the links of the pages, and then everything that was published, in its order. */
const record = async (weeks: Weeks, ingest: IntakeStack): Promise<void> => {
  const observed_at = weeks.clock.now().toISOString();
  const links = weeks.brands.flatMap(({ brand, pages }): Observation[] =>
    pages.map((page) => ({
      type: 'social_page.link',
      brand_domain: brand.domain,
      page_id: page.id,
      page_name: page.name,
      observed_at,
      role: page.role,
      confidence: page.confidence,
      linked: true,
    })),
  );
  for (const link of links) await ingest.intake.submit(link);
};

const recordPublished = async (weeks: Weeks, ingest: IntakeStack): Promise<void> => {
  for (const observation of await weeks.stack.observations()) await ingest.intake.submit(observation);
};

const sum = (checks: readonly Checked[]): Checked => ({
  completeScans: checks.reduce((total, { completeScans }) => total + completeScans, 0),
  partialScans: checks.reduce((total, { partialScans }) => total + partialScans, 0),
  claims: checks.reduce((total, { claims }) => total + claims, 0),
});

const check = async (weeks: Weeks, ingest: IntakeStack): Promise<{ library: Checked; shops: Checked }> => {
  const library: Checked[] = [];
  const shops: Checked[] = [];
  for (const brand of weeks.brands) {
    library.push(await checkLibrary(weeks, ingest, brand));
    shops.push(await checkShop(weeks, brand));
  }
  return { library: sum(library), shops: sum(shops) };
};

test(
  'an undisturbed collector reports exactly the changes of the world, day by day',
  async () => {
    await using weeks = await openWeeks(SEED, BRANDS);
    await using ingest = await openIntakeStack();
    await record(weeks, ingest);
    for (let day = 0; day < DAYS; day += 1) {
      const before = weeks.world.requests.length;
      for (const source of SOURCES) await weeks.round(source, day);
      const asked = weeks.world.requests.slice(before);
      expect(asked.length).toBeGreaterThan(0);
      expect(new Set(asked).size, `each page is asked for once on day ${day}`).toBe(asked.length);
    }
    await recordPublished(weeks, ingest);
    const { library, shops } = await check(weeks, ingest);
    expect(library.completeScans).toBe(weeks.brands.length * DAYS);
    expect([library.partialScans, shops.partialScans]).toEqual([0, 0]);
    expect(library.claims).toBeGreaterThan(weeks.brands.length);
    expect(shops.claims).toBeGreaterThan(0);
  },
  WAIT_MS,
);

test(
  'under every fault, and killed at random commits, it claims nothing false and misses nothing in complete scans',
  async () => {
    await using weeks = await openWeeks(SEED + 1, BRANDS);
    await using ingest = await openIntakeStack();
    await record(weeks, ingest);
    const random = new Random(SEED, 1);
    const names = Object.keys(ARCHIVE_FAULTS);
    const offset = random.below(names.length);
    for (let day = 0; day < DAYS; day += 1) {
      const name = names[(offset + day) % names.length] as string;
      setArchiveFault(weeks, name, random.pick(weeks.brands));
      await weeks.round('ads_archive', day, [random.between(1, KILL_AT_MAX)]);
      setShopFaults(weeks, random, Math.ceil(weeks.brands.length / 2));
      await weeks.round('storefront', day, [random.between(1, KILL_AT_MAX)]);
    }
    await recordPublished(weeks, ingest);
    const { library, shops } = await check(weeks, ingest);
    expect(library.completeScans + library.partialScans).toBeGreaterThan(0);
    expect(shops.completeScans).toBeGreaterThan(0);
  },
  WAIT_MS,
);
