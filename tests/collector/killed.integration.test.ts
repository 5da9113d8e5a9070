import { expect, test } from 'vitest';
import { type StorefrontEvent, storefrontStream } from '#contracts/events/corpus/storefront.ts';
import { SCRAPE_REQUESTED, type ScrapeRequested } from '#contracts/messages/subjects.ts';
import { brandIdOf } from '#domain/ids.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { createTestEventStore } from '#tests/stack/database.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { CONTACT, openCollectorStack, until } from './collector-stack.ts';
import { products, shopifyShop } from './played-shop.ts';

const DOMAIN = 'killed.example';

test('a collector that is killed three times on its way ends with the facts of the world, each page read once', async () => {
  await using resources = new AsyncDisposableStack();
  const stack = resources.use(await openCollectorStack());
  const store = await createTestEventStore();
  resources.defer(() => store.stop());
  const eventStore = resources.use(openEventStore(store.url));
  const shop = shopifyShop(products(260));
  const page = (number: number): string => `/products.json?limit=250&page=${number}`;
  // Before the first commit, between two pages, and before the end.
  const paths = ['/meta.json', page(2), page(3)];
  const unseen = new Set(paths);
  const servers = { DATABASE_URL: stack.databaseUrl, NATS_URL: stack.natsUrl };
  const start = () =>
    startProcess('services/collector/main.ts', {
      ...servers,
      COLLECT_CONTACT: CONTACT,
      COLLECT_SOURCES: 'storefront',
      COLLECT_VIA: stack.played.origin,
      EGRESS_ALLOW_LOOPBACK: 'true',
    });
  let collector = start();
  resources.defer(async () => void (await collector.stop()));
  const hits = paths.map(() => Promise.withResolvers<void>());
  const answered: string[] = [];
  stack.played.sites.set(DOMAIN, (path, request) => {
    // The first request of each path is never answered: its collector is killed meanwhile.
    if (unseen.delete(path)) return () => hits[paths.indexOf(path)]?.resolve();
    answered.push(path);
    return shop.site(path, request);
  });
  const wish: ScrapeRequested = {
    brand_id: brandIdOf(DOMAIN),
    brand_domain: DOMAIN,
    cadence: 'daily',
    requested_at: new Date().toISOString(),
  };
  await stack.nats.jetstream.publish(SCRAPE_REQUESTED, JSON.stringify(wish));
  for (const { promise } of hits) {
    await promise;
    await collector.kill();
    // The lease of the killed process would expire within a minute.
    await stack.database.query('update collecting.target set lease_until = now()');
    collector = start();
  }
  expect((await stack.attempt(DOMAIN)).outcome).toBe('complete');
  expect(answered.filter((path) => path.startsWith('/products'))).toEqual([
    ...new Set(answered.filter((path) => path.startsWith('/products'))),
  ]);

  const ingest = startProcess('services/ingest/main.ts', { ...servers, EVENT_STORE_URL: store.url });
  resources.defer(async () => void (await ingest.stop()));
  const events = await until('the recorded scan', async () => {
    const found: StorefrontEvent[] = [];
    for await (const event of eventStore.read<StorefrontEvent>(storefrontStream(DOMAIN))) found.push(event);
    return found.some(({ type }) => type === 'StorefrontScanRecorded') ? found : null;
  });
  const listed = events.flatMap((event) => (event.type === 'ProductsListed' ? event.data.products : []));
  expect(listed.map(({ product_id }) => Number(product_id)).toSorted((a, b) => a - b)).toEqual(
    shop.products.map(({ id }) => id),
  );
  const recorded = events.filter((event) => event.type === 'StorefrontScanRecorded');
  expect(recorded.map(({ data }) => data)).toMatchObject([{ complete: true, currency: 'EUR' }]);
});

test('a collector without a contact, or whose played world is not allowed, does not start', async () => {
  const servers = { DATABASE_URL: 'postgres://localhost/none', NATS_URL: 'nats://localhost:1' };
  const none = startProcess('services/collector/main.ts', servers);
  await none.says('COLLECT_CONTACT');
  const via = { COLLECT_CONTACT: CONTACT, COLLECT_VIA: 'http://127.0.0.1:1' };
  const refused = startProcess('services/collector/main.ts', { ...servers, ...via });
  await refused.says('COLLECT_VIA needs EGRESS_ALLOW_LOOPBACK=true');
  await Promise.all([none.stop(), refused.stop()]);
});
