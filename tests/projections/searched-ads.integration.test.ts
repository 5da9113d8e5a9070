import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { ads } from '#projections/ads/project.ts';
import { type AdFilter, searchAds } from '#projections/ads/read.ts';
import { type FilledTables, openFilledTables } from '../dsl/seeded-tables.ts';

/** More ads than the longest scan reads, with values that are common, rare, or only on old ads. */
const ADS = 12_000;
const BRANDS = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const;
const START_MS = Date.UTC(2015, 0, 1);

type Ad = {
  readonly ad_id: string;
  readonly brand_id: string;
  readonly listed_on: string;
  readonly status: string;
  readonly format: string;
  readonly countries: readonly string[];
};
const adOf = (n: number): Ad => ({
  ad_id: String(1_000_000 + n),
  brand_id: n % 20 === 0 ? BRANDS[1] : BRANDS[0],
  listed_on: new Date(START_MS + Math.floor(n / 3) * 86_400_000).toISOString().slice(0, 10),
  status: n % 40 === 3 ? 'missing' : n % 2 === 0 ? 'active' : 'inactive',
  format: n < 300 ? 'dco' : n % 3 === 0 ? 'video' : 'image',
  countries: n % 900 === 5 ? ['ALL', 'JP'] : n % 5 === 0 ? ['US', 'GB'] : n % 7 === 0 ? [] : ['US'],
});
const CORPUS = Array.from({ length: ADS }, (_, n) => adOf(ADS - 1 - n));

let tables: FilledTables;
let db: ReadDatabase;

beforeAll(async () => {
  tables = await openFilledTables([ads], async (pool) => {
    await pool.query(
      `insert into ads.ad (ad_id, brand_id, listed_on, status, format, countries, first_seen_at, seen_at)
     select a.*, a.listed_on, a.listed_on
     from json_to_recordset($1) as a(ad_id text, brand_id uuid, listed_on date, status text, format text, countries text[])`,
      [JSON.stringify(CORPUS)],
    );
  });
  ({ db } = tables);
});
afterAll(() => tables[Symbol.asyncDispose]());

const everyPage = async (filter: AdFilter, limit: number): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let after: readonly (string | number)[] | null = null, more = true; more; ) {
    const page = await searchAds(db, filter, { limit, after });
    ids.push(...page.items.map((item) => (JSON.parse(item) as { id: string }).id));
    after = page.next;
    more = after !== null;
  }
  return ids;
};

const fits =
  ({ format, status, country, brandId, startedSince }: AdFilter) =>
  (ad: Ad): boolean =>
    (format === undefined || ad.format === format) &&
    (status === undefined || ad.status === status) &&
    (country === undefined || ad.countries.includes(country)) &&
    (brandId === undefined || ad.brand_id === brandId) &&
    (startedSince === undefined || ad.listed_on >= startedSince);

describe('ads by facets', () => {
  test.each<[AdFilter, number]>([
    [{}, 5_000],
    [{ status: 'active' }, 1_000],
    [{ status: 'missing' }, 60],
    [{ country: 'US' }, 1_500],
    [{ country: 'JP' }, 4],
    [{ country: 'ZZ' }, 20],
    [{ format: 'dco' }, 90],
    [{ format: 'dco', status: 'missing' }, 2],
    [{ status: 'missing', country: 'GB' }, 20],
    [{ status: 'inactive', country: 'JP', format: 'image' }, 2],
    [{ brandId: BRANDS[1] }, 200],
    [{ brandId: BRANDS[1], format: 'dco', country: 'GB' }, 4],
    [{ brandId: BRANDS[1], startedSince: '2020-01-01', status: 'active' }, 90],
    [{ startedSince: '2025-01-01', country: 'JP' }, 20],
  ])('equal a plain filter by %o over all pages, newest first', async (filter, limit) => {
    expect(await everyPage(filter, limit)).toEqual(CORPUS.filter(fits(filter)).map(({ ad_id }) => ad_id));
  });
});
