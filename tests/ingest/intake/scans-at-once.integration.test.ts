import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { BRAND_LOCK_CLASS } from '#contracts/ports/advisory-locks.ts';
import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { recordStagedScan } from '#services/ingest/ad-library/record-scan.ts';
import { openBrandLocks } from '#services/ingest/intake/brand-locks.ts';
import { storeBrand } from '#services/ingest/intake/folded-streams.ts';
import { ad } from '#tests/dsl/scans.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';
import { profileOf } from '../../intake/stack.ts';

/** Scans at the same time must give what they give in turn. */

let stack: IntakeStack;
let database: Database;
beforeAll(async () => {
  stack = await openIntakeStack();
  database = openPool(stack.databaseUrl, 4);
});
afterAll(async () => {
  await database.end();
  await stack[Symbol.asyncDispose]();
});

const awaitedLocks = async (): Promise<number> => {
  const { rows } = await database.query(
    `select from pg_locks where locktype = 'advisory' and classid >= $1 and not granted
       and database = (select oid from pg_database where datname = current_database())`,
    [BRAND_LOCK_CLASS],
  );
  return rows.length;
};

const holdScansOf = async (domain: string) => {
  const locks = openBrandLocks(stack.databaseUrl);
  const [taken, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const running = locks.run(brandIdOf(domain), async () => {
    taken.resolve();
    await held.promise;
  });
  await taken.promise;
  return async (): Promise<void> => {
    held.resolve();
    await running;
    await locks[Symbol.asyncDispose]();
  };
};

type Scan = ReturnType<typeof scanOf>;

const stage = async ({ chunks }: Scan): Promise<void> => {
  for (const chunk of chunks) await stack.intake.submit(chunk);
};

const submit = async (scan: Scan): Promise<void> => {
  await stage(scan);
  await stack.intake.submit(scan.end);
};

const eventsOf = async (domain: string, { end }: Scan): Promise<AdLibraryEvent[]> => {
  const events: AdLibraryEvent[] = [];
  for await (const event of stack.eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf(domain)))) {
    if ('scan_id' in event.data && event.data.scan_id === end.scan_id) events.push(event);
  }
  return events;
};

const leadingTo = (id: number, domain: string, page: string): ObservedAd =>
  ad(id, { page_id: page, link_url: `https://${domain}/` });

describe('scans that are recorded at once', () => {
  it('count an ad as missing that one shows on a page which the other covers for another brand', async () => {
    const [page, otherPage] = ['820000001', '820000002'];
    const shows = scanOf('shows.example', '2026-05-01T10:00:00Z', [leadingTo(821, 'shows.example', page)], {
      pages: [otherPage],
    });
    const covers = scanOf('covers.example', '2026-05-02T10:00:00Z', [], { pages: [page] });
    const release = await holdScansOf('covers.example');
    const first = submit(covers);
    await expect.poll(awaitedLocks, { timeout: 60_000 }).toBe(1);
    let isSecondDone = false;
    const second = submit(shows).finally(() => (isSecondDone = true));
    await expect
      .poll(async () => isSecondDone || (await awaitedLocks()) === 2, { timeout: 60_000 })
      .toBe(true);
    await release();
    await Promise.all([first, second]);
    expect((await eventsOf('shows.example', covers)).at(-1)).toMatchObject({
      type: 'ScanRecorded',
      data: { totals: { seen: 0, active: 1, missing: 1 } },
    });
  });

  it('decide a scan again as late when another process records a later one meanwhile', async () => {
    const [page, otherPage] = ['830000001', '830000002'];
    const scan = (at: string, ads: readonly ObservedAd[], pages: readonly string[]) =>
      scanOf('from.example', at, ads, { pages });
    await submit(scanOf('to.example', '2026-04-30T10:00:00Z', [], { pages: [] }));
    await submit(scan('2026-05-01T10:00:00Z', [leadingTo(831, 'from.example', page)], [page]));
    const early = scan(
      '2026-05-02T10:00:00Z',
      [leadingTo(831, 'from.example', page), leadingTo(832, 'from.example', page)],
      [page],
    );
    const later = scan('2026-05-04T10:00:00Z', [leadingTo(831, 'to.example', otherPage)], [otherPage]);
    const release = await holdScansOf('from.example');
    const first = submit(early);
    await expect.poll(awaitedLocks, { timeout: 60_000 }).toBe(1);
    // As a process that waited too long for locks.
    await stage(later);
    await recordStagedScan(database, stack.eventStore, later.end);
    await release();
    await first;
    const recorded = (await eventsOf('from.example', early)).at(-1);
    expect(recorded).toMatchObject({
      type: 'ScanRecorded',
      data: { totals: { seen: 2, active: 2, missing: 0, total: 2 } },
    });
  });
});

describe('a link or registration of an earlier time that arrives while a scan is recorded', () => {
  const linkOf = (brand_domain: string, page_id: string, observed_at: string) => ({
    type: 'social_page.link',
    brand_domain,
    page_id,
    observed_at,
    linked: true,
    role: 'OFFICIAL',
    confidence: 1,
    page_name: null,
  });

  /** Submits, and returns when recorded, or waiting for a lock. */
  const submitMeanwhile = async (observation: unknown) => {
    const before = await awaitedLocks();
    let isDone = false;
    const submitted = stack.intake.submit(observation).finally(() => (isDone = true));
    await expect.poll(async () => isDone || (await awaitedLocks()) > before, { timeout: 60_000 }).toBe(true);
    return { submitted };
  };

  it.each([
    ['profile', '840000001', (domain: string, at: string) => profileOf(domain, at)],
    ['link', '840000002', (domain: string, at: string) => linkOf(domain, '840000009', at)],
  ] as const)(
    'decides about the ads of the scan that lead to its domain: a %s',
    async (kind, page, observe) => {
      const [shop, named] = [`${kind}-shop.example`, `${kind}-named.example`];
      const ads = [leadingTo(Number(page.slice(-1)) + 840, named, page)];
      const scan = scanOf(shop, '2026-05-03T10:00:00Z', ads, { pages: [page] });
      const release = await holdScansOf(shop);
      const recorded = submit(scan);
      await expect.poll(awaitedLocks, { timeout: 60_000 }).toBe(1);
      const { submitted } = await submitMeanwhile(observe(named, '2026-05-02T10:00:00Z'));
      await release();
      await Promise.all([recorded, submitted]);
      expect((await eventsOf(shop, scan)).at(-1)).toMatchObject({
        type: 'ScanCorrected',
        data: { totals: { seen: 0, active: 0, total: 0 } },
      });
      expect(await eventsOf(named, scan)).toMatchObject([
        { type: 'ScanRecorded', data: { totals: { seen: 1, active: 1, total: 1 } } },
      ]);
    },
  );

  const placeOf = async (id: number) => {
    const { rows } = await database.query<{ brand: string; link: string }>(
      `select b.domain as brand, a.known->'content'->>'link_url' as link
       from ingest.ad a join ingest.ad_owner o using (ad_id, brand_id) join ingest.brand b using (brand_id)
       where a.ad_id = $1`,
      [ad(id).ad_id],
    );
    return rows[0];
  };

  it('decides about ads that led to its domain by what is recorded, and lead elsewhere by the scan', async () => {
    const [shop, named] = ['left-shop.example', 'left-named.example'];
    const [page, other] = ['860000001', '860000002'];
    await submit(
      scanOf(shop, '2026-05-01T10:00:00Z', [leadingTo(861, named, page)], { pages: [], complete: false }),
    );
    await submit(scanOf(named, '2026-05-07T10:00:00Z', [], { pages: [], complete: false }));
    const away = [ad(861, { page_id: page, link_url: 'https://elsewhere.example/c' })];
    const late = scanOf(shop, '2026-05-02T10:00:00Z', away, { pages: [other], complete: false });
    const release = await holdScansOf(named);
    const recorded = submit(late);
    await expect.poll(awaitedLocks, { timeout: 60_000 }).toBe(1);
    const { submitted } = await submitMeanwhile(profileOf(named, '2026-05-03T10:00:00Z'));
    await release();
    await Promise.all([recorded, submitted]);
    expect(await placeOf(861)).toEqual({ brand: shop, link: 'https://elsewhere.example/c' });
  });

  it('decides after a link of the page of an ad that leads to its domain, and the other way round', async () => {
    const [shop, named, linked] = ['turn-shop.example', 'turn-named.example', 'turn-linked.example'];
    const page = '870000001';
    await submit(scanOf(shop, '2026-05-03T10:00:00Z', [leadingTo(871, named, page)], { pages: [page] }));
    const release = await holdScansOf(linked);
    const linking = stack.intake.submit(linkOf(linked, page, '2026-05-04T10:00:00Z'));
    await expect.poll(awaitedLocks, { timeout: 60_000 }).toBe(1);
    const { submitted } = await submitMeanwhile(profileOf(named, '2026-05-04T10:00:00Z'));
    expect(await awaitedLocks()).toBe(2);
    await release();
    await Promise.all([linking, submitted]);
    expect(await placeOf(871)).toMatchObject({ brand: named });
  });

  it('decides about the reliability of the scan for its brand', async () => {
    const [covered, other, linked] = ['850000001', '850000002', 'linked-twice.example'];
    await stack.intake.submit(linkOf(linked, covered, '2026-05-01T10:00:00Z'));
    const scan = scanOf('covering.example', '2026-05-03T10:00:00Z', [], { pages: [covered] });
    await stage(scan);
    const [deciding, decided] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const eventStore: typeof stack.eventStore = {
      ...stack.eventStore,
      append: async (...append) => {
        if (append[0] === adLibraryStream(brandIdOf(linked))) {
          deciding.resolve();
          await decided.promise;
        }
        return await stack.eventStore.append(...append);
      },
    };
    await using locks = openBrandLocks(stack.databaseUrl);
    const recorded = recordStagedScan(database, eventStore, scan.end, locks);
    await deciding.promise;
    const { submitted } = await submitMeanwhile(linkOf(linked, other, '2026-05-02T10:00:00Z'));
    decided.resolve();
    await Promise.all([recorded, submitted]);
    const events = await eventsOf(linked, scan);
    expect(events.at(-1)).toMatchObject({ type: 'ScanCorrected', data: { reliable: false } });
  });
});

describe('a brand that several writers register at the same moment', () => {
  it('is stored by all of them, with the earliest time', async () => {
    const [brands, writers] = [150, 4];
    const times = Array.from({ length: writers }, (_, day) => `2026-05-0${day + 1}T10:00:00.000Z`);
    for (let n = 0; n < brands; n += 1) {
      const domain = `brand-${n}.example`;
      await Promise.all(times.map((time) => storeBrand(database, brandIdOf(domain), domain, time)));
    }
    const { rows } = await database.query(
      `select count(*)::int as brands, max(registered_at) as at from ingest.brand where domain like 'brand-%'`,
    );
    expect(rows).toEqual([{ brands, at: times[0] }]);
  });
});
