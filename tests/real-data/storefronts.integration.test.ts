import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { StorefrontEvent } from '#contracts/events/corpus/storefront.ts';
import { storefrontStream } from '#contracts/events/corpus/storefront.ts';
import { readSettings } from '#platform/settings.ts';
import { ingestFiles } from '#services/ingest/files/ingest-files.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import type { Intake } from '#services/ingest/intake-types.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { on } from '../dsl/api.ts';
import { reading } from '../ingest/fixtures/export-files.ts';
import { faultsAtEnd } from '../stack/verify-read-models.ts';

/** The same files give the expected replies. They are in `AD_DATA_DIR`. */
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const { AD_DATA_DIR } = readSettings(z.object({ AD_DATA_DIR: z.string().default('../shared/data') }));
const folder = resolve(PROJECT, AD_DATA_DIR, 'shopify');
const CATALOGUE = join(folder, 'kiidskingdom-products-page1.json.gz');
/** Empty, and the forty products twenty minutes later. */
const EMPTY = join(folder, 'spacire-blackout-curtains-20250916T1403Z.json.gz');
const FORTY = join(folder, 'spacire-blackout-curtains-20250916T1423Z.json.gz');
const absent = ![CATALOGUE, EMPTY, FORTY].every((file) => existsSync(file));
if (absent) {
  console.warn(
    `tests of real storefronts are skipped: there is no folder ${folder}; name it with AD_DATA_DIR`,
  );
}

type Published = {
  readonly published_at: string | null;
  readonly id: number;
  readonly title: string;
  readonly handle: string;
  readonly variants: readonly {
    readonly id: number;
    readonly price: string;
    readonly compare_at_price: string | null;
    readonly available?: boolean;
  }[];
};
const publishedIn = (file: string): readonly Published[] =>
  (JSON.parse(gunzipSync(readFileSync(file)).toString('utf8')) as { products: Published[] }).products;

type Shown = {
  readonly product_id: string;
  readonly title: string;
  readonly handle: string;
  readonly variants: readonly {
    readonly variant_id: string;
    readonly price: string;
    readonly compare_at_price: string | null;
    readonly available: boolean | null;
  }[];
};
const asShown = ({ id, title, handle, variants }: Published): Shown => ({
  product_id: String(id),
  title,
  handle,
  variants: variants.map((variant) => ({
    variant_id: String(variant.id),
    price: variant.price,
    compare_at_price: variant.compare_at_price,
    available: variant.available ?? null,
  })),
});
const byId = (products: readonly Shown[]): ReadonlyMap<string, object> =>
  new Map(
    products.map(({ product_id, title, handle, variants }) => [
      product_id,
      {
        title,
        handle,
        variants: variants.map(({ variant_id, price, compare_at_price, available }) => ({
          variant_id,
          price,
          compare_at_price,
          available,
        })),
      },
    ]),
  );

describe.skipIf(absent)('real storefronts', () => {
  let stack: ApiStack;
  let app: FastifyInstance;
  let key: Key;
  let intake: Intake & AsyncDisposable;

  const ingest = async (file: string, brand: string, scannedAt: string): Promise<void> => {
    const options = { brand, scannedAt, complete: true, refusedDirectory: tmpdir() };
    const refused: string[] = [];
    const report = { progress: () => {}, finished: () => {}, refused: (line: string) => refused.push(line) };
    const [totals] = await ingestFiles([file], options, intake, report);
    expect(refused).toEqual([]);
    expect(totals?.events).toBeGreaterThan(0);
    await stack.projected(await stack.eventStore.head());
  };
  const storeOf = async (slug: string): Promise<Record<string, unknown> & { products: Shown[] | null }> =>
    (await on(app).get(`/v1/brands/${slug}/store`, { key })).data;

  beforeAll(async () => {
    stack = await openApiStack();
    [app, key] = await Promise.all([stack.api(), stack.key()]);
    const { DATABASE_URL = '', EVENT_STORE_URL } = stack.environment;
    intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL ?? '' });
  });
  afterAll(async () => {
    await intake?.[Symbol.asyncDispose]();
    await stack?.[Symbol.asyncDispose]();
  });

  test('a catalogue of 250 products is returned as published', async () => {
    await ingest(CATALOGUE, 'kiidskingdom.com', '2026-03-14T00:00:00.000Z');
    const published = publishedIn(CATALOGUE);
    expect(published).toHaveLength(250);
    const store = await storeOf('kiidskingdom');
    expect(store).toMatchObject({
      status: 'collected',
      products_total: 250,
      missing_products: 0,
      latest_scan: { complete: true, products_seen: 250, collector: 'storefront-json' },
      changes: [],
    });
    expect(byId(store.products ?? [])).toEqual(byId(published.map(asShown)));
    const numbers = (store.products ?? []).map(({ product_id }) => Number(product_id));
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
  });

  test('an unchanged catalogue appends nothing when repeated, and one event when scanned on another day', async () => {
    const options = { brand: 'kiidskingdom.com', refusedDirectory: tmpdir(), complete: true };
    const report = { progress: () => {}, finished: () => {}, refused: () => {} };
    const [again] = await ingestFiles(
      [CATALOGUE],
      { ...options, scannedAt: '2026-03-14T00:00:00.000Z' },
      intake,
      report,
    );
    expect(again?.events).toBe(0);
    const [later] = await ingestFiles(
      [CATALOGUE],
      { ...options, scannedAt: '2026-03-15T00:00:00.000Z' },
      intake,
      report,
    );
    expect(later?.events).toBe(1);
  });

  test('a catalogue produces few events, none of them large', async () => {
    const bytes: number[] = [];
    for await (const { data } of stack.eventStore.read<StorefrontEvent>(storefrontStream('kiidskingdom.com')))
      bytes.push(Buffer.byteLength(JSON.stringify(data)));
    expect(bytes.length).toBeLessThan(10);
    expect(Math.max(...bytes)).toBeLessThan(400_000);
  });

  test('empty responses before and after a scan do not empty the shop', async () => {
    await ingest(EMPTY, 'spacire.com', '2025-09-16T14:03:00.000Z');
    expect(await storeOf('spacire')).toMatchObject({
      status: 'not_collected',
      products: null,
      latest_scan: { complete: false, products_seen: 0 },
    });
    await ingest(FORTY, 'spacire.com', '2025-09-16T14:23:00.000Z');
    // One of 40 products is active but not published (`published_at` is null).
    const visible = publishedIn(FORTY).filter((product) => product.published_at !== null);
    const published = byId(visible.map(asShown));
    expect(published.size).toBe(39);
    for (const day of [17, 18, 19]) {
      const store = await storeOf('spacire');
      expect(store).toMatchObject({ status: 'collected', products_total: 39, missing_products: 0 });
      expect(byId(store.products ?? [])).toEqual(published);
      await ingest(EMPTY, 'spacire.com', `2025-09-${day}T14:03:00.000Z`);
    }
    expect(await storeOf('spacire')).toMatchObject({
      products_total: 39,
      latest_scan: { complete: false, products_seen: 0 },
      last_complete_scan_at: null,
    });
  });

  test('a page without a declaration of completeness and a collection are not complete scans', async () => {
    const endOf = async (file: string, complete: boolean) => {
      const options = { brand: 'shop.example', scannedAt: '2026-03-14T00:00:00.000Z', complete };
      const { observations, refused } = await reading(file, options);
      expect(refused).toEqual([]);
      return observations.at(-1);
    };
    expect(await endOf(CATALOGUE, false)).toMatchObject({
      type: 'storefront.scan_end',
      pages: 1,
      complete: false,
    });
    expect(await endOf(CATALOGUE, true)).toMatchObject({ complete: true });
    expect(await endOf(FORTY, true)).toMatchObject({ complete: false });
  });

  test('figures agree in all replies, and a rebuild of every projection yields the same tables', async () => {
    expect(await faultsAtEnd(stack)).toEqual([]);
  }, 120_000);
});
