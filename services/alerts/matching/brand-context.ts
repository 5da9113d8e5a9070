import type { Event } from '#contracts/events/event.ts';
import { type BrandPage, UNKNOWN_PAGE } from '#domain/workspace/alert/match-events.ts';
import {
  brandNameOf,
  type BrandProfile,
  type MatchingState,
  UNKNOWN_BRAND,
} from '#application/alerts/match-events.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/** Brands and pages at the checkpoint, in their tables. Memory holds those of the last batches. */
export type BrandContext = MatchingState['brands'] & {
  /** Needed for the brands and pages of the events before they are matched. */
  load(events: readonly Event[]): Promise<void>;
  save(client: Transaction): Promise<void>;
  /** Also drops changes that are not saved. */
  forget(): void;
  /** Counts what is in memory. */
  size(): number;
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

const readBrands = async (database: Database, ids: readonly string[]): Promise<readonly BrandProfile[]> => {
  if (ids.length === 0) return [];
  const { rows } = await database.query<BrandProfile>({
    name: 'learn brands',
    text: `select b.slug, b.name, b.logo_url, b.last_complete_at
           from unnest($1::uuid[]) with ordinality as wanted (brand_id, n)
           left join alerting.brand b using (brand_id) order by n`,
    values: [ids],
  });
  return rows;
};

const readPages = async (database: Database, pairs: readonly Pair[]): Promise<readonly BrandPage[]> => {
  if (pairs.length === 0) return [];
  const { rows } = await database.query<BrandPage>({
    name: 'learn pages',
    text: `select p.role, coalesce(p.ran_ads, false) as ran_ads, coalesce(p.was_new_partner, false) as was_new_partner
           from unnest($1::uuid[], $2::text[]) with ordinality as wanted (brand_id, social_page_id, n)
           left join alerting.page p using (brand_id, social_page_id) order by n`,
    values: [pairs.map(({ brand_id }) => brand_id), pairs.map(({ page_id }) => page_id)],
  });
  return rows;
};

export const openBrandContext = (database: Database): BrandContext => {
  const brands = new Map<string, BrandProfile>();
  const pages = new Map<string, BrandPage>();
  const changedBrands = new Set<string>();
  const changedPages = new Map<string, Pair>();
  return {
    load: async (events) => {
      const unknownBrands = new Set<string>();
      const unknownPages = new Map<string, Pair>();
      for (const event of events) {
        const { brand_id } = event.data as Partial<Pair>;
        if (brand_id && !brands.has(brand_id)) unknownBrands.add(brand_id);
        const pair = pairOf(event);
        const key = pair && keyOf(pair.brand_id, pair.page_id);
        if (key !== null && !pages.has(key)) unknownPages.set(key, pair as Pair);
      }
      const [ids, pairs] = [[...unknownBrands], [...unknownPages]];
      const [foundBrands, foundPages] = await Promise.all([
        readBrands(database, ids),
        readPages(
          database,
          pairs.map(([, pair]) => pair),
        ),
      ]);
      for (const [index, id] of ids.entries()) brands.set(id, foundBrands[index] ?? UNKNOWN_BRAND);
      for (const [index, [key]] of pairs.entries()) pages.set(key, foundPages[index] ?? UNKNOWN_PAGE);
    },
    nameOf: (brandId) => brandNameOf(brandId, brands.get(brandId) ?? UNKNOWN_BRAND),
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
      await Promise.all([
        saveBrands(client, [...changedBrands], brands),
        savePages(client, [...changedPages], pages),
      ]);
      changedBrands.clear();
      changedPages.clear();
    },
    forget: () => {
      for (const one of [brands, pages, changedBrands, changedPages]) one.clear();
    },
    size: () => brands.size + pages.size,
  };
};

const saveBrands = async (
  client: Transaction,
  ids: readonly string[],
  brands: ReadonlyMap<string, BrandProfile>,
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
