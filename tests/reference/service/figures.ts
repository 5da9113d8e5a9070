import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { findAd } from '#projections/ads/read.ts';
import { findBrand } from '#projections/brands/read.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import type { Standings } from './ad-standings.ts';
import type { Placement } from './placement.ts';
import type { AdFigures, BrandFigures, DayFigures, Figures, World } from '../world.ts';

/** The read models, and what the log says of ads that no read model shows. */
export type FigureSources = { readonly db: ReadDatabase; readonly standings: Standings };

/** Reads the figures of a placed world, in the names of the world. */
export const readFigures = async (
  sources: FigureSources,
  world: World,
  placement: Placement,
): Promise<Figures> => {
  const { db } = sources;
  const shown = world.observations.flatMap((observation) =>
    observation.kind === 'scan' ? observation.ads.map(({ ad }) => ad) : [],
  );
  const ads: Record<string, AdFigures> = {};
  const brands: Record<string, BrandFigures> = {};
  const days: Record<string, DayFigures> = {};
  await Promise.all([
    ...[...new Set(shown)].map(async (ad) => {
      const figures = await readAd(sources, ad, placement);
      if (figures) ads[ad] = figures;
    }),
    ...world.brands.map(async (brand) => {
      Object.assign(days, await readDays(db, brand, placement));
    }),
  ]);
  for (const brand of world.brands) brands[brand] = await readBrand(db, brand, placement, Object.values(ads));
  return { ads, brands, days };
};

type AdDocument = {
  readonly brand_id: string;
  readonly status: AdFigures['status'];
  readonly page: { readonly page_id: string } | null;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
  readonly started_on: string | null;
  readonly stopped_on: string | null;
  readonly days_active: number | null;
  readonly countries: readonly string[];
  readonly body: string | null;
  readonly title: string | null;
  readonly caption: string | null;
  readonly destination_url: string | null;
};

/** Parses a JSON text of a read model, in which a mark stands for the service's base URL. */
const parsed = (json: string): unknown =>
  JSON.parse(json.replaceAll(BASE_URL_MARK, 'https://service.example'));
/** Time without the precision that the read model chose. */
const instant = (time: string): string => new Date(time).toISOString();
/** A blank text and an absent one are the same figure (rule 4). */
const text = (value: string | null): string | null => (value === null || value.trim() === '' ? null : value);

const readAd = async (
  { db, standings }: FigureSources,
  ad: string,
  placement: Placement,
): Promise<AdFigures | null> => {
  const found = await findAd(db, placement.adIdOf(ad));
  if (!found) return null;
  const document = parsed(found.json) as AdDocument;
  const standing = standings.of(placement.adIdOf(ad));
  const { status, started_on, stopped_on, days_active, body, title, caption, destination_url } = document;
  return {
    brand: placement.domainOf(document.brand_id),
    status,
    page: document.page && placement.pageOf(document.page.page_id),
    first_seen: instant(document.first_seen_at),
    last_seen: instant(document.last_seen_at),
    novelty: standing?.novelty ?? null,
    inactive_since: standing?.inactive_since ? instant(standing.inactive_since) : null,
    started_on,
    stopped_on,
    days_active,
    countries: document.countries.toSorted(),
    body: text(body),
    title: text(title),
    caption: text(caption),
    link: destination_url === null ? null : placement.linkOf(destination_url),
  };
};

/**
 * Counts the ads of the brand by status. The brand's own counters, which the service keeps apart from the ads, stand in
 * for the sums: a counter that disagrees with the ads is a difference.
 */
const readBrand = async (
  db: ReadDatabase,
  brand: string,
  placement: Placement,
  ads: readonly AdFigures[],
): Promise<BrandFigures> => {
  const found = await findBrand(db, { id: placement.brandIdOf(brand) });
  const counters = parsed(found?.detail ?? '{}') as { active_ads?: number; total_ads?: number };
  const own = ads.filter((ad) => ad.brand === brand);
  const missing = own.filter(({ status }) => status === 'missing').length;
  const live = counters.active_ads ?? 0;
  const total = counters.total_ads ?? 0;
  return { active: live - missing, missing, inactive: total - live, total };
};

type DayDocument = {
  readonly date: string;
  readonly active_ads: number;
  readonly new_ads: number;
  readonly retired_ads: number;
  readonly reliable: boolean;
};

const readDays = async (
  db: ReadDatabase,
  brand: string,
  placement: Placement,
): Promise<Record<string, DayFigures>> => {
  const { items } = await readDailyActivity(db, placement.brandIdOf(brand), {});
  return Object.fromEntries(
    items.map((item) => {
      const { date, active_ads, new_ads, retired_ads, reliable } = parsed(item) as DayDocument;
      return [`${brand} ${date}`, { active: active_ads, new: new_ads, retired: retired_ads, reliable }];
    }),
  );
};
