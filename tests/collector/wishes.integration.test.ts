import { expect, test } from 'vitest';
import { collectorConsumer, SCRAPE_REQUESTED, SCRAPES_STREAM } from '#contracts/messages/subjects.ts';
import { silentLog } from '#platform/logger.ts';
import { consumeWishes } from '#services/collector/schedule/consume-wishes.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import { openCollectorStack, until } from './collector-stack.ts';

const stack = await disposeAfterAll(openCollectorStack());

const consume = (...sources: readonly string[]): AsyncDisposable => {
  const stopping = new AbortController();
  const { nats, database } = stack;
  const running = consumeWishes({
    nats,
    database,
    db: { query: async () => [] } as never,
    clock: { now: () => new Date(stack.nowMs) },
    log: silentLog(),
    signal: stopping.signal,
    sources,
    recorded: () => undefined,
  });
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
    },
  };
};

const sourcesOf = async (domain: string): Promise<readonly string[]> => {
  const { rows } = await stack.database.query<{ source: string }>(
    'select source from collecting.target where domain = $1 order by source',
    [domain],
  );
  return rows.map(({ source }) => source);
};

const untilSources = (domain: string, ...expected: readonly string[]): Promise<true> =>
  until(`the targets ${expected.join()} of ${domain}`, async () =>
    (await sourcesOf(domain)).join() === expected.join() ? true : null,
  );

const request = async (domain: string): Promise<void> => {
  const wish = {
    brand_id: '00000000-0000-4000-8000-000000000001',
    brand_domain: domain,
    cadence: 'daily',
    requested_at: '2026-05-01T08:00:00.000Z',
  };
  await stack.nats.jetstream.publish(SCRAPE_REQUESTED, JSON.stringify(wish));
};

test('collectors with different sources each record the wishes for theirs', async () => {
  await using collectors = new AsyncDisposableStack();
  for (const sources of [['storefront'], ['site', 'landing_pages']]) collectors.use(consume(...sources));
  await request('all.example');
  await stack.wish('shop.example', 'daily', 'storefront');
  await stack.wish('site.example', 'daily', 'site');
  await untilSources('all.example', 'landing_pages', 'site', 'storefront');
  await untilSources('shop.example', 'storefront');
  await untilSources('site.example', 'site');
});

test('a source that is first read later gets the wishes of before, and no other does', async () => {
  await stack.wish('later.example', 'daily', 'ads_archive');
  await request('earlier.example');
  const shops = consume('storefront');
  await untilSources('earlier.example', 'storefront');
  await shops[Symbol.asyncDispose]();
  expect(await sourcesOf('later.example')).toEqual([]);
  await using collectors = new AsyncDisposableStack();
  collectors.use(consume('ads_archive'));
  await untilSources('earlier.example', 'ads_archive', 'storefront');
  await untilSources('later.example', 'ads_archive');
});

test('keeps the values of a consumer that an operator chose', async () => {
  const { consumers } = stack.nats.manager;
  const durable = collectorConsumer('storefront');
  const wishesOf = async (domain: string) => {
    await using _ = consume('storefront');
    await request(domain);
    await untilSources(domain, 'storefront');
  };
  await wishesOf('before.example');
  await consumers.update(SCRAPES_STREAM, durable, { ack_wait: 60_000_000_000 });
  await wishesOf('after.example');
  expect((await consumers.info(SCRAPES_STREAM, durable)).config.ack_wait).toBe(60_000_000_000);
});
