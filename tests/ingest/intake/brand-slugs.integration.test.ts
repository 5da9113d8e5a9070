import { expect, test } from 'vitest';
import { type BrandRegistered, brandStream } from '#contracts/events/corpus/brand.ts';
import { type BrandSlugReserved, brandSlugStream } from '#contracts/events/corpus/brand-slug.ts';
import { reserveBrandSlug } from '#domain/corpus/brand-slug.ts';
import { brandIdOf } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { registered } from '#tests/operations/fixtures/corpus.ts';
import { brandProfile } from '#tests/dsl/site-events.ts';
import { metadataOf } from '#tests/dsl/metadata.ts';
import { ad } from '#tests/dsl/scans.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { openIntakeServers, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

const AT = '2026-05-01T00:00:00.000Z';
const stack = await disposeAfterAll(openIntakeStack());
const { eventStore, databaseUrl, eventStoreUrl } = stack;

const slugsIn = async (log: EventStore, domain: string): Promise<readonly string[]> => {
  const slugs: string[] = [];
  for await (const { type, data } of log.read<BrandRegistered>(brandStream(brandIdOf(domain))))
    if (type === 'BrandRegistered') slugs.push(data.slug);
  return slugs;
};
const slugsOf = (domain: string): Promise<readonly string[]> => slugsIn(eventStore, domain);

const profile = (domain: string, intake = stack.intake) =>
  intake.submit(brandProfile({ domain, observed_at: AT, name: domain }));

const scan = async (domain: string, number: number, intake = stack.intake): Promise<void> => {
  const { chunks, end } = scanOf(domain, AT, [ad(String(number))], { pages: [`${number}0000001`] });
  for (const one of [...chunks, end]) await intake.submit(one);
};

/** A crash after the reservation leaves only its event. */
const reserve = (slug: string, domain: string) =>
  eventStore.append(
    brandSlugStream(slug),
    -1n,
    reserveBrandSlug(slug, domain, AT)(null),
    metadataOf('crashed'),
    `reserve ${slug}`,
  );

test('brands of one label get different slugs, whether a profile or a scan registers them', async () => {
  await profile('acme.com');
  await scan('acme.co.uk', 41);
  await profile('acme.de');
  await profile('acme.com');
  const slugs = await Promise.all(['acme.com', 'acme.co.uk', 'acme.de'].map(slugsOf));
  expect(slugs).toEqual([['acme'], ['acme-co-uk'], ['acme-de']]);
});

test('a brand that no word is left for has its id in the slug', async () => {
  await profile('b-c.com');
  await profile('a.b-c.com');
  expect(await slugsOf('a.b-c.com')).toEqual(['a-b-c-com']);
  await profile('c.com');
  await profile('a.b.c.com');
  expect(await slugsOf('a.b.c.com')).toEqual([`a-b-c-com-${brandIdOf('a.b.c.com')}`]);
});

test('processes that register brands of one label at the same time give each its own slug', async () => {
  await using other = await openIntake({ databaseUrl, eventStoreUrl });
  const domains = Array.from({ length: 8 }, (_, n) => `race.${'abcdefgh'.charAt(n)}z`);
  await Promise.all(
    domains.flatMap((domain, n) => [profile(domain), profile(domain, other), scan(domain, 50 + n, other)]),
  );
  const slugs = await Promise.all(domains.map(slugsOf));
  expect(slugs.map(({ length }) => length)).toEqual(domains.map(() => 1));
  expect(new Set(slugs.flat()).size).toBe(domains.length);
  expect(slugs.flat()).toContain('race');
});

test('a brand takes up the slug that it reserved before a crash, and no other brand gets it', async () => {
  await reserve('crashed', 'crashed.com');
  await profile('crashed.de');
  await profile('crashed.com');
  await reserve('scanned', 'scanned.com');
  await scan('scanned.com', 61);
  const slugs = await Promise.all(['crashed.de', 'crashed.com', 'scanned.com'].map(slugsOf));
  expect(slugs).toEqual([['crashed-de'], ['crashed'], ['scanned']]);
  const last = await eventStore.last<BrandSlugReserved>(brandSlugStream('crashed'));
  expect([last?.revision, last?.data.domain]).toEqual([0n, 'crashed.com']);
});

test('a brand that an older release registered keeps its slug and its address', async () => {
  const event = registered('my.shop', AT, { slug: 'my-shop' });
  await eventStore.append(brandStream(event.data.brand_id), -1n, [event], metadataOf('old'), 'old brand');
  await using later = await openIntake({ databaseUrl, eventStoreUrl });
  await profile('my-shop.com', later);
  await profile('my.shop', later);
  expect(await slugsOf('my-shop.com')).toEqual(['my-shop-com']);
  expect(await slugsOf('my.shop')).toEqual(['my-shop']);
});

test('brands keep their slugs when they are imported again in another order, into empty working tables', async () => {
  await using servers = await openIntakeServers();
  const domains = ['again.com', 'again.de', 'again.net'];
  {
    await using intake = await openIntake(servers);
    for (const domain of domains) await profile(domain, intake);
  }
  const pool = openPool(servers.databaseUrl, 1);
  await pool.query('drop schema ingest cascade');
  await pool.end();
  await using intake = await openIntake(servers);
  for (const domain of domains.toReversed())
    expect(await profile(domain, intake)).toMatchObject({ events: 0 });
  const slugs = await Promise.all(domains.map((domain) => slugsIn(servers.eventStore, domain)));
  expect(slugs).toEqual([['again'], ['again-de'], ['again-net']]);
});
