import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import type { Event } from '#contracts/events/event.ts';
import { siteStream } from '#contracts/events/corpus/site.ts';
import { storefrontStream } from '#contracts/events/corpus/storefront.ts';
import type { ObservedProduct } from '#contracts/observations/storefront-scan.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { shopProduct, siteScan, siteTool } from '#tests/dsl/site-events.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';

let stack: IntakeStack;
let databaseUrl: string;
let eventStoreUrl: string;
let intake: IntakeStack['intake'];
let eventStore: EventStore;

beforeAll(async () => {
  stack = await openIntakeStack();
  ({ databaseUrl, eventStoreUrl, intake, eventStore } = stack);
});
afterAll(() => stack[Symbol.asyncDispose]());

const scanOf = (domain: string, at: string, ...pages: readonly (readonly ObservedProduct[])[]) => {
  const scan_id = derivedId('test scan', `${domain} ${at} ${JSON.stringify(pages)}`);
  const key = { scan_id, domain, scanned_at: at };
  return {
    pages: pages.map((products, page) => ({ type: 'storefront.scan', ...key, page, products })),
    end: {
      type: 'storefront.scan_end',
      ...key,
      pages: pages.length,
      complete: true,
      currency: null,
      collector: 'test',
    },
  };
};

const typesIn = async (stream: string): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const { type } of eventStore.read<Event>(stream)) types.push(type);
  return types;
};

const stagedPages = async (): Promise<number> => {
  const pool = openPool(databaseUrl, 1);
  try {
    return (await pool.query('select from ingest.staged_storefront_page')).rows.length;
  } finally {
    await pool.end();
  }
};

describe('a storefront scan', () => {
  it('is recorded when all pages have arrived, in any order and repeatedly', async () => {
    const { pages, end } = scanOf(
      'late.example',
      '2026-05-01T08:00:00.000Z',
      [shopProduct(1, '9')],
      [shopProduct(2, '9')],
    );
    await intake.submit(pages[1]);
    await expect(intake.submit(end)).rejects.toThrow('has 2 catalogue pages, but only 1 have arrived');
    await intake.submit(pages[0]);
    await intake.submit(pages[0]);
    expect((await intake.submit(end)).events).toBe(3);
    expect(await typesIn(storefrontStream('late.example'))).toEqual([
      'ProductsListed',
      'StorefrontScanRecorded',
    ]);
    expect(await typesIn(brandStream(brandIdOf('late.example')))).toEqual(['BrandRegistered']);
    expect(await stagedPages()).toBe(0);
  });

  it('records nothing and leaves nothing staged when it is submitted again', async () => {
    const { pages, end } = scanOf('twice.example', '2026-05-01T08:00:00.000Z', [shopProduct(1, '9')]);
    for (const page of pages) await intake.submit(page);
    await intake.submit(end);
    expect((await intake.submit(end)).events).toBe(0);
    for (const page of pages) await intake.submit(page);
    expect((await intake.submit(end)).events).toBe(0);
    expect(await stagedPages()).toBe(0);
  });

  it('is refused when it has more pages than its end states, or a time in the future', async () => {
    const { pages, end } = scanOf(
      'more.example',
      '2026-05-01T08:00:00.000Z',
      [shopProduct(1, '9')],
      [shopProduct(2, '9')],
    );
    for (const page of pages) await intake.submit(page);
    await expect(intake.submit({ ...end, pages: 1 })).rejects.toThrow('2 were submitted');
    await expect(intake.submit({ ...end, scanned_at: '2126-05-01T08:00:00.000Z' })).rejects.toThrow(
      'is in the future',
    );
  });

  it('is decided on events that another process appended to a cached shop', async () => {
    const scans = [3, 4, 5].map((day) =>
      scanOf('others.example', `2026-05-0${day}T08:00:00.000Z`, [shopProduct(1, String(day))]),
    );
    await using other = await openIntake({ databaseUrl, eventStoreUrl });
    for (const [index, { pages, end }] of scans.entries()) {
      const by = index === 1 ? other : intake;
      for (const page of pages) await by.submit(page);
      await by.submit(end);
    }
    expect(await typesIn(storefrontStream('others.example'))).toEqual([
      'ProductsListed',
      'StorefrontScanRecorded',
      'ProductsChanged',
      'StorefrontScanRecorded',
      'ProductsChanged',
      'StorefrontScanRecorded',
    ]);
  });

  it('is recorded once when it is submitted twice concurrently', async () => {
    const { pages, end } = scanOf('both.example', '2026-05-01T08:00:00.000Z', [shopProduct(1, '9')]);
    for (const page of pages) await intake.submit(page);
    const outcomes = await Promise.all([intake.submit(end), intake.submit(end)]);
    // Either call may register the brand, so only the sum is fixed.
    expect(outcomes.reduce((sum, { events }) => sum + events, 0)).toBe(3);
    expect(await typesIn(brandStream(brandIdOf('both.example')))).toEqual(['BrandRegistered']);
    expect(await typesIn(storefrontStream('both.example'))).toEqual([
      'ProductsListed',
      'StorefrontScanRecorded',
    ]);
  });

  it('is recorded when it has a product of half a megabyte', async () => {
    const [variant] = shopProduct(1, '9').variants;
    const variants = Array.from({ length: 2_000 }, (_, id) => ({
      ...(variant as NonNullable<typeof variant>),
      id: String(id + 1),
      sku: 's'.repeat(255),
    }));
    const large = { ...shopProduct(1, '9'), variants };
    const { pages, end } = scanOf('large.example', '2026-05-01T08:00:00.000Z', [large]);
    for (const page of pages) await intake.submit(page);
    await intake.submit(end);
    expect(await typesIn(storefrontStream('large.example'))).toEqual([
      'ProductsListed',
      'StorefrontScanRecorded',
    ]);
  });

  it.each([
    ['an invalid price', { variants: [{ ...shopProduct(1, '9').variants[0], price: '9,50' }] }, 'price'],
    ['another money field', { inventory_value: 9 }, 'inventory_value'],
    ['no variant', { variants: [] }, 'variants'],
    ['a NUL character', { title: 'Boot\u0000' }, 'title'],
  ])('is refused with the field name when it has %s', async (_case, fields, named) => {
    const { pages } = scanOf('bad.example', '2026-05-01T08:00:00.000Z', [
      { ...shopProduct(1, '9'), ...fields } as never,
    ]);
    await expect(intake.submit(pages[0])).rejects.toThrow(named);
  });
});

describe('a site scan', () => {
  it('is recorded once in the stream of its site, and registers no brand', async () => {
    const scan = siteScan('site.example', '2026-05-01T08:00Z', { tools: [siteTool('pixel')] });
    expect((await intake.submit(scan)).events).toBe(2);
    expect((await intake.submit(scan)).events).toBe(0);
    expect(await typesIn(siteStream('site.example'))).toEqual(['ToolsDetected', 'SiteScanRecorded']);
    expect(await typesIn(brandStream(brandIdOf('site.example')))).toEqual([]);
  });

  it('is refused with the field name when it has unknown or invalid fields', async () => {
    const scan = siteScan('site.example', '2026-05-02T08:00Z', { tools: [siteTool('pixel')] });
    await expect(intake.submit({ ...scan, winner: 'arm 1' })).rejects.toThrow('winner');
    await expect(
      intake.submit({ ...scan, tools: [{ ...siteTool('pixel'), slug: 'Pixel!' }] }),
    ).rejects.toThrow('tools.0.slug');
  });
});
