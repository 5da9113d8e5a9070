import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { Freshness } from '#contracts/resources/corpus/brand.ts';
import { findBrand } from '#projections/brands/read.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { readFreshness } from '#projections/freshness/read.ts';
import { type BrandSignal, listBrandSignals } from '#projections/signals/read.ts';
import { readVelocity } from '#projections/velocity/read.ts';
import type { SignalKind } from '#contracts/values/signals.ts';
import type {
  AdFigures,
  BrandFigures,
  DayFigures,
  FreshnessFigures,
  ProfileFigures,
  SignalFigures,
  WeekFigures,
} from '../world.ts';
import type { Placement } from './placement.ts';
import { instant, parsed } from './reply-values.ts';

const WEEKS_MAX = 52;

const DAYS = { from: '2026-01-01', to: '2026-12-31' };
const SIGNAL_KINDS: readonly SignalKind[] = [
  'ads_started',
  'ads_stopped',
  'destinations_changed',
  'new_linked_page',
];

type BrandDetail = {
  readonly active_ads: number;
  readonly total_ads: number;
  readonly as_of: string;
  readonly new_ads_7d: number;
  readonly new_ads_30d: number;
  readonly retired_ads_7d: number;
  readonly retired_ads_30d: number;
  readonly avg_ad_lifespan_days: number | null;
  readonly last_ad_seen_at: string | null;
  readonly top_countries: ProfileFigures['countries'];
};

export const readBrand = async (db: ReadDatabase, brand: string, { brandIdOf }: Placement) => {
  const id = brandIdOf(brand);
  const [found, days, freshness, weeks, signals] = await Promise.all([
    findBrand(db, { id }),
    readDailyActivity(db, id, {}),
    readFreshness(db, id),
    readVelocity(db, id, WEEKS_MAX),
    listBrandSignals(db, id, DAYS, SIGNAL_KINDS),
  ]);
  return { detail: parsed(found?.detail ?? '{}') as Partial<BrandDetail>, days, freshness, weeks, signals };
};
export type BrandReplies = Awaited<ReturnType<typeof readBrand>>;

/** Uses the brand's own counters, so that a counter that disagrees with the ads is a difference. */
export const countsOf = (
  brand: string,
  detail: Partial<BrandDetail>,
  ads: readonly AdFigures[],
): BrandFigures => {
  const own = ads.filter((ad) => ad.brand === brand);
  const missing = own.filter(({ status }) => status === 'missing').length;
  const { active_ads: live = 0, total_ads: total = 0 } = detail;
  return { active: live - missing, missing, inactive: total - live, total };
};

const timeOf = (time: string | null | undefined): string | null => (time ? instant(time) : null);

export const profileOf = ({ detail, days, weeks }: BrandReplies): ProfileFigures => ({
  as_of: {
    // A brand that no scan looked at is as of its registration.
    brands: days.asOf === null ? null : timeOf(detail.as_of),
    days: timeOf(days.asOf),
    weeks: timeOf(weeks.asOf),
  },
  new_7d: detail.new_ads_7d ?? 0,
  new_30d: detail.new_ads_30d ?? 0,
  retired_7d: detail.retired_ads_7d ?? 0,
  retired_30d: detail.retired_ads_30d ?? 0,
  avg_lifespan: detail.avg_ad_lifespan_days ?? null,
  last_ad_seen_on: detail.last_ad_seen_at ?? null,
  countries: detail.top_countries ?? [],
});

export const freshnessOf = ({
  as_of,
  last_reliable_at,
  next_due,
  freshness_tier,
}: Freshness): FreshnessFigures => ({
  as_of: timeOf(as_of) ?? '',
  last_reliable_at: timeOf(last_reliable_at),
  next_due: timeOf(next_due) ?? '',
  freshness_tier,
});

type DayDocument = {
  readonly date: string;
  readonly active_ads: number;
  readonly new_ads: number;
  readonly retired_ads: number;
  readonly reliable: boolean;
};

export const daysOf = (brand: string, items: readonly string[]): Record<string, DayFigures> =>
  Object.fromEntries(
    items.map((item) => {
      const { date, active_ads, new_ads, retired_ads, reliable } = parsed(item) as DayDocument;
      return [`${brand} ${date}`, { active: active_ads, new: new_ads, retired: retired_ads, reliable }];
    }),
  );

type WeekDocument = Omit<DayDocument, 'date' | 'reliable'> & {
  readonly week_start: string;
  readonly reliable_days: number;
};

export const weeksOf = (brand: string, items: readonly string[]): Record<string, WeekFigures> =>
  Object.fromEntries(
    items.map((item) => {
      const { week_start, active_ads, new_ads, retired_ads, reliable_days } = parsed(item) as WeekDocument;
      const week = { active: active_ads, new: new_ads, retired: retired_ads, reliable_days };
      return [`${brand} ${week_start}`, week];
    }),
  );

export const signalsOf = (brand: string, signals: readonly BrandSignal[]): Record<string, SignalFigures> =>
  Object.fromEntries(
    signals.map(({ date, kind, figures, observed_at }) => [
      `${brand} ${date} ${kind}`,
      { items: figures.items, observed_at: instant(observed_at) },
    ]),
  );
