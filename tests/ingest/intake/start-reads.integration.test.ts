import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { Event } from '#contracts/events/event.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { proxied } from '#tests/faults/fault-proxy.ts';
import { judge } from '#tests/trials/judge.ts';
import { METADATA } from '../../projector/counting-projection.ts';
import { openIntakeServers } from '../fixtures/intake-stack.ts';

/** A start must read only what follows the stored position, however long the log is. */

const { START_READS_EVENTS } = readSettings(
  z.object({ START_READS_EVENTS: z.coerce.number().int().min(1_000).default(3_000) }),
);
const READS_MAX = Math.min(10_000, START_READS_EVENTS / 10);
const AT = '2026-05-02T10:00:00Z';
const APPEND_EVENTS = 100;
/** Appends among which one registers brands. The others are of libraries, as in a real log. */
const APPENDS_OF_A_BRAND = 20;
const LIMIT_MS = 120_000 + START_READS_EVENTS * 2;

const registered = (domain: string): Event => ({
  type: 'BrandRegistered',
  data: { brand_id: brandIdOf(domain), domain, slug: domain, observed_at: AT },
});
const missed = (brandId: string, index: number): Event => ({
  type: 'AdsMissed',
  data: { brand_id: brandId, scan_id: randomUUID(), observed_at: AT, ad_ids: [String(index)] },
});

const appendMany = async (eventStore: EventStore): Promise<{ brands: string[]; firstStream: string }> => {
  const brands: string[] = [];
  const appends = Math.ceil(START_READS_EVENTS / APPEND_EVENTS);
  let firstStream = '';
  for (let append = appends; append > 0; append -= 1) {
    const brandId = randomUUID();
    // The position can then reach the end of the log.
    const isOfBrands = append % APPENDS_OF_A_BRAND === 1;
    const domains = Array.from({ length: APPEND_EVENTS }, (_, index) => `many-${append}-${index}.example`);
    const stream = isOfBrands ? brandStream(brandId) : adLibraryStream(brandId);
    const events = domains.map((domain, index) => (isOfBrands ? registered(domain) : missed(brandId, index)));
    if (isOfBrands) brands.push(...domains);
    firstStream ||= stream;
    await eventStore.append(stream, -1n, events, METADATA, `many ${append}`);
  }
  return { brands, firstStream };
};

const foldedTo = async (database: Database): Promise<bigint> => {
  const { rows } = await database.query<{ position: string }>('select position from ingest.folded_to');
  return BigInt(rows[0]?.position ?? 0);
};

test('a start of ingest reads few of many events, and has all brands', {
  timeout: LIMIT_MS,
}, async (context) => {
  await using resources = new AsyncDisposableStack();
  const servers = resources.use(await openIntakeServers());
  const { eventStore } = servers;
  const database = openPool(servers.databaseUrl, 2);
  resources.defer(() => database.end());
  const profile = (domain: string) =>
    ({ type: 'brand.profile', domain, observed_at: AT, ...PROFILE }) as const;
  const former = resources.use(await openIntake(servers));
  await former.submit(profile('first.example'));
  const { brands, firstStream } = await appendMany(eventStore);
  const head = await eventStore.head();
  // Stores the position.
  await expect
    .poll(() => foldedTo(database), { timeout: LIMIT_MS / 2, interval: 200 })
    .toBeGreaterThanOrEqual(head);
  await former.submit(profile('last.example'));
  await former[Symbol.asyncDispose]();

  /** Number of events, each of which names its stream once. */
  let sent = 0;
  const counting = await proxied(servers.eventStoreUrl, (bytes) => {
    sent += bytes.toString('latin1').match(/(?:brand|socialPage|adLibrary)-/g)?.length ?? 0;
  });
  resources.use(counting.proxy);
  const started = resources.use(await openIntake({ ...servers, eventStoreUrl: counting.url }));
  await started.submit(profile('after.example'));
  for (const domain of ['last.example', brands[0] ?? '', brands.at(-1) ?? ''])
    expect([domain, await started.isBrandRegistered(domain)]).toEqual([domain, true]);
  judge(context, `events that a start of ingest reads, of ${START_READS_EVENTS}`, sent, {
    atMost: READS_MAX,
  });

  // Proves that the count is one of events.
  const reader = resources.use(openEventStore(counting.url));
  const before = sent;
  for await (const _ of reader.read(firstStream));
  expect(sent - before).toBeGreaterThan(APPEND_EVENTS * 0.9);
});

const PROFILE = {
  name: 'Shop',
  description: null,
  url: null,
  logo_url: null,
  country: null,
  category_path: null,
  is_public: null,
  indexable: null,
} as const;
