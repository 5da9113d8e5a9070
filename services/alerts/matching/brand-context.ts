import type { Event } from '#contracts/events/event.ts';
import { type BrandPage, UNKNOWN_PAGE } from '#domain/workspace/alert/match-events.ts';
import type { BrandName } from '#domain/workspace/alert/payload.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

type BrandRow = {
  readonly slug: string | null;
  readonly name: string | null;
  readonly logo_url: string | null;
  readonly last_complete_at: string | null;
};
const UNKNOWN_BRAND: BrandRow = { slug: null, name: null, logo_url: null, last_complete_at: null };

/** Brands and pages of a batch, with the changes that it makes to them. */
export type BrandContext = {
  nameOf(brandId: string): BrandName;
  lastCompleteAt(brandId: string): string | null;
  page(brandId: string, pageId: string): BrandPage;
  setBrand(brandId: string, changes: Partial<BrandRow>): void;
  setPage(brandId: string, pageId: string, page: BrandPage): void;
  save(client: Transaction): Promise<void>;
};

type Pair = { readonly brand_id: string; readonly page_id: string };
/** Name of the field with the ad, by type of correction. */
const AD_FIELDS: Readonly<Record<string, 'after' | 'ad'>> = {
  AdObservationCorrected: 'after',
  AdAttributed: 'ad',
};
const pairOf = ({ type, data }: Event): Pair | null => {
  const adField = AD_FIELDS[type];
  if (type !== 'AdStarted' && !type.startsWith('Page') && adField === undefined) return null;
  const { brand_id } = data as Partial<Pair>;
  const { page_id } = (
    adField === undefined ? data : (data as Record<string, object>)[adField]
  ) as Partial<Pair>;
  return brand_id && page_id ? { brand_id, page_id } : null;
};
const keyOf = (brandId: string, pageId: string): string => `${brandId} ${pageId}`;

const readBrands = async (database: Database, ids: readonly string[]): Promise<Map<string, BrandRow>> => {
  if (ids.length === 0) return new Map();
  const { rows } = await database.query<BrandRow & { brand_id: string }>({
    name: 'learn brands',
    text: `select brand_id, slug, name, logo_url, last_complete_at from alerting.brand
           where brand_id = any($1::uuid[])`,
    values: [ids],
  });
  return new Map(rows.map(({ brand_id, ...brand }) => [brand_id, brand]));
};

const readPages = async (database: Database, pairs: readonly Pair[]): Promise<Map<string, BrandPage>> => {
  if (pairs.length === 0) return new Map();
  const { rows } = await database.query<BrandPage & { brand_id: string; social_page_id: string }>({
    name: 'learn pages',
    text: `select brand_id, social_page_id, role, ran_ads, was_new_partner from alerting.page
           join unnest($1::uuid[], $2::text[]) as wanted (brand_id, social_page_id) using (brand_id, social_page_id)`,
    values: [pairs.map(({ brand_id }) => brand_id), pairs.map(({ page_id }) => page_id)],
  });
  return new Map(
    rows.map(({ brand_id, social_page_id, ...page }) => [keyOf(brand_id, social_page_id), page]),
  );
};

export const loadBrandContext = async (
  database: Database,
  events: readonly Event[],
): Promise<BrandContext> => {
  const brandIds = new Set<string>();
  const pairs = new Map<string, Pair>();
  for (const event of events) {
    const { brand_id } = event.data as Partial<Pair>;
    if (brand_id) brandIds.add(brand_id);
    const pair = pairOf(event);
    if (pair) pairs.set(keyOf(pair.brand_id, pair.page_id), pair);
  }
  const [brands, pages] = await Promise.all([
    readBrands(database, [...brandIds]),
    readPages(database, [...pairs.values()]),
  ]);
  const changedBrands = new Set<string>();
  const changedPages = new Map<string, Pair>();
  return {
    // A brand may be scanned before it is registered. No rule can refer to it then, so its id suffices.
    nameOf: (brand_id) => {
      const { slug, name, logo_url } = brands.get(brand_id) ?? UNKNOWN_BRAND;
      return { brand_id, slug: slug ?? brand_id, name: name ?? brand_id, logo_url };
    },
    lastCompleteAt: (brandId) => brands.get(brandId)?.last_complete_at ?? null,
    page: (brandId, pageId) => pages.get(keyOf(brandId, pageId)) ?? UNKNOWN_PAGE,
    setBrand: (brandId, changes) => {
      brands.set(brandId, { ...UNKNOWN_BRAND, ...brands.get(brandId), ...changes });
      changedBrands.add(brandId);
    },
    setPage: (brand_id, page_id, page) => {
      const key = keyOf(brand_id, page_id);
      if (pages.get(key) === page) return;
      pages.set(key, page);
      changedPages.set(key, { brand_id, page_id });
    },
    save: async (client) => {
      await saveBrands(client, [...changedBrands], brands);
      await savePages(client, [...changedPages], pages);
      changedBrands.clear();
      changedPages.clear();
    },
  };
};

const saveBrands = async (
  client: Transaction,
  ids: readonly string[],
  brands: ReadonlyMap<string, BrandRow>,
): Promise<void> => {
  if (ids.length === 0) return;
  const rows = ids.map((id) => brands.get(id) ?? UNKNOWN_BRAND);
  await client.query({
    name: 'keep brands',
    text: `insert into alerting.brand (brand_id, slug, name, logo_url, last_complete_at)
           select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[])
           on conflict (brand_id) do update set slug = excluded.slug, name = excluded.name,
             logo_url = excluded.logo_url, last_complete_at = excluded.last_complete_at`,
    values: [
      ids,
      rows.map(({ slug }) => slug),
      rows.map(({ name }) => name),
      rows.map(({ logo_url }) => logo_url),
      rows.map(({ last_complete_at }) => last_complete_at),
    ],
  });
};

const savePages = async (
  client: Transaction,
  changed: readonly (readonly [string, Pair])[],
  pages: ReadonlyMap<string, BrandPage>,
): Promise<void> => {
  if (changed.length === 0) return;
  const rows = changed.map(([key]) => pages.get(key) ?? UNKNOWN_PAGE);
  await client.query({
    name: 'keep pages',
    text: `insert into alerting.page (brand_id, social_page_id, role, ran_ads, was_new_partner)
           select * from unnest($1::uuid[], $2::text[], $3::text[], $4::boolean[], $5::boolean[])
           on conflict (brand_id, social_page_id) do update set role = excluded.role, ran_ads = excluded.ran_ads,
             was_new_partner = excluded.was_new_partner`,
    values: [
      changed.map(([, { brand_id }]) => brand_id),
      changed.map(([, { page_id }]) => page_id),
      rows.map(({ role }) => role),
      rows.map(({ ran_ads }) => ran_ads),
      rows.map(({ was_new_partner }) => was_new_partner),
    ],
  });
};
