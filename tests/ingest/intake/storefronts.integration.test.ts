import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Event } from '#contracts/events/event.ts';
import { type StorefrontEvent, storefrontStream } from '#contracts/events/corpus/storefront.ts';
import type {
  ObservedProduct,
  StorefrontScanEnd,
  StorefrontScanPage,
} from '#contracts/observations/storefront-scan.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { stageStorefrontPage } from '#services/ingest/storefront/page-staging.ts';
import { catchUpStorefront } from '#services/ingest/storefront/catch-up-storefront.ts';
import { openStorefront, saveStorefront } from '#services/ingest/storefront/storefront-store.ts';
import { createStorefrontRecorder } from '#services/ingest/storefront/record-scan.ts';
import { shopProduct } from '#tests/dsl/site-events.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';

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

/** Limits by which each page is a part that is appended by itself. */
const SMALL_PARTS = { characters: 6_000, appendedEvents: 1 };

const largeProduct = (n: number, price: string): ObservedProduct => ({
  ...shopProduct(n, price),
  variants: Array.from({ length: 180 }, (_, variant) => ({
    id: String(n * 1_000 + variant),
    title: null,
    sku: 's'.repeat(255),
    price,
    compare_at_price: null,
    available: true,
  })),
});

type Scan = { readonly pages: readonly StorefrontScanPage[]; readonly end: StorefrontScanEnd };

const scanOf = (domain: string, day: number, pages: readonly (readonly ObservedProduct[])[]): Scan => {
  const key = {
    scan_id: derivedId('test scan', `${domain} ${day}`),
    domain,
    scanned_at: `2026-05-0${day}T08:00:00.000Z`,
  };
  return {
    pages: pages.map((products, page) => ({
      type: 'storefront.scan',
      ...key,
      page,
      products: [...products],
    })),
    end: {
      type: 'storefront.scan_end',
      ...key,
      pages: pages.length,
      complete: true,
      currency: 'USD',
      collector: 'test',
    },
  };
};

/** Two scans with changed prices, a product on two pages, new and absent products. */
const scansOf = (domain: string): readonly [Scan, Scan] => {
  const page = (first: number, price: string): ObservedProduct[] =>
    Array.from({ length: 20 }, (_, n) => shopProduct(first + n, price));
  return [
    scanOf(domain, 1, [page(1, '9.00'), page(21, '9.00'), page(41, '9.00')]),
    scanOf(domain, 2, [page(1, '8.00'), page(18, '9.00'), page(61, '7.00')]),
  ];
};

const stage = async ({ pages }: Scan): Promise<void> => {
  for (const page of pages) await stageStorefrontPage(database, page);
};

/** Event store whose append fails once, before or after recording. */
const failingAt = (call: number, when: 'before' | 'after'): EventStore => {
  let calls = 0;
  return {
    ...stack.eventStore,
    append: async (...appended) => {
      calls += 1;
      if (calls === call && when === 'before') throw new Error('connection lost');
      const recorded = await stack.eventStore.append(...appended);
      if (calls === call) throw new Error('connection lost');
      return recorded;
    },
  };
};

/** State without names that differ between shops. */
const stateOf = async (domain: string): Promise<object> => {
  const events: Event[] = [];
  for await (const { type, data } of stack.eventStore.read<Event>(storefrontStream(domain)))
    events.push({ type, data });
  const { rows: products } = await database.query(
    'select product_id, listed, missing_since, md5(product) as product from ingest.storefront_product where domain = $1 order by 1',
    [domain],
  );
  const { rows: shop } = await database.query('select * from ingest.storefront where domain = $1', [domain]);
  const names = new RegExp(
    [domain, brandIdOf(domain), ...scansOf(domain).map(({ end }) => end.scan_id)].join('|'),
    'g',
  );
  return JSON.parse(JSON.stringify({ events, products, shop }).replace(names, 'name')) as object;
};

const record = (eventStore: EventStore, scan: Scan): Promise<number> =>
  createStorefrontRecorder(database, eventStore, SMALL_PARTS)(scan.end);

const recordBoth = async (domain: string): Promise<object> => {
  for (const scan of scansOf(domain)) {
    await stage(scan);
    await record(stack.eventStore, scan);
  }
  return stateOf(domain);
};

describe('a storefront scan that is interrupted and delivered again', () => {
  it('ends in the same events and tables at every append', async () => {
    const expected = await recordBoth('whole.example');
    let cuts = 0;
    for (let call = 1, interrupted = true; interrupted; call += 1) {
      for (const when of ['before', 'after'] as const) {
        const domain = `cut-${call}-${when}.example`;
        const [first, second] = scansOf(domain);
        await stage(first);
        await record(stack.eventStore, first);
        await stage(second);
        interrupted = await record(failingAt(call, when), second).then(
          () => false,
          () => true,
        );
        if (interrupted) {
          cuts += 1;
          await record(stack.eventStore, second);
        }
        expect(await stateOf(domain), `${domain} of ${cuts}`).toEqual(expected);
      }
    }
    expect(cuts).toBeGreaterThanOrEqual(6);
  });

  it('is decided on the stream after the working tables were dropped', async () => {
    const expected = await recordBoth('kept.example');
    const domain = 'dropped.example';
    const [first, second] = scansOf(domain);
    const dropTables = async (): Promise<void> => {
      for (const table of ['storefront', 'storefront_product', 'recorded_storefront_scan'])
        await database.query(`delete from ingest.${table} where domain = $1`, [domain]);
    };
    await stage(first);
    await record(stack.eventStore, first);
    await dropTables();
    expect(await record(stack.eventStore, first), 'its pages are deleted').toBe(0);
    await dropTables();
    await stage(second);
    await record(stack.eventStore, second);
    expect(await stateOf(domain)).toEqual(expected);
  });
});

describe('the working tables of a shop', () => {
  it('are written only at the revision at which they were read', async () => {
    const domain = 'stale.example';
    const [first, second] = scansOf(domain);
    await stage(first);
    await record(stack.eventStore, first);
    const stale = await openStorefront(database, domain, second.end.scan_id);
    await stage(second);
    await record(stack.eventStore, second);
    const after = await stateOf(domain);
    expect(await saveStorefront(database, stale, stale.revision + 99n)).toBe(false);
    expect(await stateOf(domain)).toEqual(after);
  });

  it('are the same when another process folds each event before its writer', async () => {
    const expected = await recordBoth('alone.example');
    const domain = 'raced.example';
    for (const scan of scansOf(domain)) {
      await stage(scan);
      const raced: EventStore = {
        ...stack.eventStore,
        append: async (...appended) => {
          const recorded = await stack.eventStore.append(...appended);
          await catchUpStorefront(database, stack.eventStore, domain, scan.end.scan_id);
          return recorded;
        },
      };
      await record(raced, scan);
    }
    expect(await stateOf(domain)).toEqual(expected);
  });
});

it('records a product whose handle is too long, and the other products of its page', async () => {
  const long = shopProduct(1, '9', { handle: 'boot-'.repeat(1_000) });
  const { pages, end } = scanOf('handles.example', 1, [[long, shopProduct(2, '9')]]);
  for (const page of pages) await stack.intake.submit(page);
  await stack.intake.submit(end);
  const handles = [];
  for await (const { data } of stack.eventStore.read<StorefrontEvent>(storefrontStream('handles.example')))
    if ('products' in data && data.products !== null)
      for (const product of data.products) if ('handle' in product) handles.push(product.handle);
  expect(handles).toEqual([expect.stringMatching(/^(boot-)+.*…$/), 'boot-2']);
});

describe('a page of a storefront scan that comes again', () => {
  const one = scanOf('again.example', 1, [[shopProduct(1, '9')], [shopProduct(2, '9')]]);
  const [page] = one.pages as [StorefrontScanPage];
  const other = { ...page, products: [shopProduct(1, '10')] };

  it('is accepted with the same content, and refused with other content', async () => {
    for (const again of [...one.pages, ...one.pages]) await stack.intake.submit(again);
    await expect(stack.intake.submit(other)).rejects.toThrow('was submitted before with other content');
    await expect(stack.intake.submit({ ...page, domain: 'another.example' })).rejects.toThrow(
      'was submitted before with other content',
    );
    expect((await stack.intake.submit(one.end)).events).toBe(3);
  });

  it('is accepted or refused in the same way after its scan was recorded', async () => {
    await stack.intake.submit(page);
    await expect(stack.intake.submit(other)).rejects.toThrow('was submitted before with other content');
    const { rows } = await database.query('select from ingest.staged_storefront_page where scan_id = $1', [
      one.end.scan_id,
    ]);
    expect(rows).toHaveLength(0);
  });

  it('refuses the scan when a page is of another shop', async () => {
    const { pages, end } = scanOf('mixed.example', 1, [[shopProduct(1, '9')], [shopProduct(2, '9')]]);
    const [first, second] = pages as [StorefrontScanPage, StorefrontScanPage];
    await stack.intake.submit(first);
    await stack.intake.submit({ ...second, domain: 'elsewhere.example' });
    await expect(stack.intake.submit(end)).rejects.toThrow('another shop than mixed.example');
  });
});

it('a catalogue of any size is read and appended in parts of bounded size', async () => {
  const limits = { characters: 200_000, appendedEvents: 2 };
  const MAX_CHARACTERS = 1_000_000;
  let largest = 0;
  const measure = (value: unknown): void => {
    const withoutBigint = (_: string, part: unknown): unknown =>
      typeof part === 'bigint' ? String(part) : part;
    largest = Math.max(largest, JSON.stringify(value, withoutBigint).length);
  };
  const measured = new Proxy(database, {
    get: (pool, name) =>
      name === 'query'
        ? async (statement: string, values?: unknown[]) => {
            measure([statement, values]);
            const result = await pool.query(statement, values);
            measure(result.rows);
            return result;
          }
        : (Reflect.get(pool, name) as unknown),
  });
  const eventStore: EventStore = {
    ...stack.eventStore,
    append: (stream, expected, events, metadata, ids) => {
      measure(events);
      return stack.eventStore.append(stream, expected, events, metadata, ids);
    },
  };
  const catalogue = (price: string): ObservedProduct[][] =>
    Array.from({ length: 20 }, (_, page) =>
      Array.from({ length: 3 }, (_unused, n) => largeProduct(page * 3 + n + 1, price)),
    );
  const totalCharacters = JSON.stringify(catalogue('9.00')).length;
  expect(totalCharacters).toBeGreaterThan(3 * MAX_CHARACTERS);
  // Absent products are delisted.
  for (const [day, pages] of [
    catalogue('9.00'),
    catalogue('8.00'),
    [[shopProduct(9_999, '1')]],
    [[shopProduct(9_999, '1')]],
  ].entries()) {
    const scan = scanOf('large.example', day + 1, pages);
    await stage(scan);
    await createStorefrontRecorder(measured, eventStore, limits)(scan.end);
  }
  expect(largest).toBeLessThan(MAX_CHARACTERS);
  const { rows } = await database.query(
    `select listed, missing, (select count(*)::int from ingest.storefront_product p where p.domain = s.domain and listed) as shown
     from ingest.storefront s where domain = 'large.example'`,
  );
  expect(rows).toEqual([{ listed: 1, missing: 0, shown: 1 }]);
});

it('a product over its limits is recorded within them, and is not changed by the next scan', async () => {
  const long: ObservedProduct = {
    ...shopProduct(1, '9.00'),
    variants: Array.from({ length: 2_000 }, (_, variant) => ({
      id: String(variant + 1),
      title: '🧦'.repeat(120),
      sku: null,
      price: '9.00',
      compare_at_price: null,
      available: true,
    })),
  };
  for (const day of [1, 2]) {
    const { pages, end } = scanOf('long.example', day, [[long, shopProduct(2, '9.00')]]);
    for (const part of [...pages, end]) await stack.intake.submit(part);
  }
  const events: StorefrontEvent[] = [];
  for await (const event of stack.eventStore.read<StorefrontEvent>(storefrontStream('long.example')))
    events.push(event);
  const listed = events.flatMap(({ type, data }) => (type === 'ProductsListed' ? data.products : []));
  expect(listed.map(({ variants }) => variants.length).toSorted((one, other) => one - other)).toEqual([
    2, 2_000,
  ]);
  expect(events.map(({ type }) => type).filter((type) => type !== 'ProductsListed')).toEqual([
    'StorefrontScanRecorded',
    'StorefrontScanRecorded',
  ]);
});
