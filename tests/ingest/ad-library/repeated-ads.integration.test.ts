import { expect, test } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { brandIdOf } from '#domain/ids.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { ad } from '#tests/dsl/scans.ts';
import { choices } from '#tests/faults/seeded-faults.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

/** Ads that a scan shows as the one before did are not read. One history is recorded with that, and one without. */

const DOMAINS = ['one.example', 'two.example'];
const PAGES = ['910000001', '910000002', '910000003'];
const SCANS = 24;
const ADS = 24;

const at = (day: number, hour = 10): string => new Date(Date.UTC(2026, 3, 1 + day, hour)).toISOString();

/** Scans and links, mostly in the order of time. */
const historyOf = (seed: number): readonly (readonly object[])[] => {
  const below = choices(seed);
  const isRare = (): boolean => below(12) === 0;
  const editions = Array.from({ length: ADS }, () => 0);
  const shownAt = (number: number, day: number): ObservedAd => {
    if (isRare()) editions[number] = (editions[number] ?? 0) + 1;
    const edition = editions[number];
    const url = `https://${DOMAINS[number % 5 === 0 ? 1 : 0]}/${number}`;
    const kind = number % 7 === 0 && edition === 2 ? 'image' : 'video';
    return ad(`91${number}`, {
      page_id: number % 11 === 0 && isRare() ? null : (PAGES[number % PAGES.length] ?? null),
      is_active: number % 6 === 0 ? null : !isRare(),
      started_on: '2026-03-20',
      stopped_on: number % 6 === 0 ? '2026-04-12' : null,
      body: isRare() ? null : `Edition ${edition} of ${number}`,
      link_url: number % 4 === 0 ? url : null,
      cta_text: 'Shop now',
      // These differ in every scan.
      media: [{ kind, url: `https://media.example/${number}?day=${day}`, poster_url: null }],
      ...(number % 8 === 0 ? { countries: ['US', 'CA'] } : {}),
    });
  };
  return Array.from({ length: SCANS }, (_, scan): readonly object[] => {
    if (isRare()) {
      const link = {
        page_id: PAGES[below(3)],
        page_name: null,
        role: 'OFFICIAL',
        confidence: below(10) / 10,
      };
      const observed_at = at(scan + below(5) - 2);
      const brand_domain = DOMAINS[below(2)];
      return [{ type: 'social_page.link', brand_domain, observed_at, linked: below(3) > 0, ...link }];
    }
    const day = isRare() ? Math.max(0, scan - 4) : scan;
    const ads = Array.from({ length: ADS }, (_ad, number) => number)
      .filter((number) => !isRare() && number < ADS - 6 + scan)
      .map((number) => shownAt(number, day));
    const [first] = ads;
    const { chunks, end } = scanOf(DOMAINS[isRare() ? 1 : 0] ?? '', at(day, 10 + below(3)), ads, {
      pages: isRare() ? PAGES.slice(0, 2) : PAGES,
      complete: !isRare(),
      countries: isRare() ? ['DE'] : ['US'],
      collector: scan > SCANS / 2 && below(4) === 0 ? 'other' : 'test',
      chunkSize: 10,
    });
    // An ad with entries in two chunks.
    if (isRare() && first) chunks.at(-1)?.ads.push({ ...first, body: null });
    return [...chunks, end];
  });
};

const eventsIn = async ({ eventStore }: IntakeStack): Promise<readonly unknown[]> => {
  const events: unknown[] = [];
  for (const domain of DOMAINS)
    for await (const { type, data } of eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf(domain))))
      events.push([type, data]);
  return events;
};

test.for([1, 2, 5])('repeated ads are not read, and the events are the same (seed %i)', async (seed) => {
  await using resources = new AsyncDisposableStack();
  const fast = resources.use(await openIntakeStack());
  const thorough = resources.use(await openIntakeStack());
  const pools = [fast, thorough].map(({ databaseUrl }) => openPool(databaseUrl, 1));
  resources.defer(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
  });
  let repeated = 0;
  for (const messages of historyOf(seed)) {
    await pools[1]?.query('update ingest.ad set shown = null');
    for (const message of messages) for (const { intake } of [fast, thorough]) await intake.submit(message);
    repeated += (await pools[0]?.query('select from ingest.ad where shown is not null'))?.rowCount ?? 0;
  }
  expect(await eventsIn(fast)).toEqual(await eventsIn(thorough));
  expect(repeated).toBeGreaterThan(SCANS);
});
