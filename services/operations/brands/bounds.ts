import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { COVERAGE_DAYS, FIGURE_DAYS_MAX, FigureBounds } from '#contracts/resources/corpus/coverage.ts';
import { FIGURES, type Figure, type FigureName, FigureNameField } from '#contracts/values/figures.ts';
import { DAY_MS, utcDate, utcDateOfMs } from '#contracts/values/time.ts';
import {
  countAdsBegun,
  countAdsSeenOn,
  countAdsStopped,
  type LinkedPagesCoverage,
  READ_MODELS_OF_BOUNDS,
  readGaps,
  readLookedAt,
} from '#projections/queries/coverage.ts';
import { readFigure } from '#projections/queries/figures.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { DATE_EARLIEST, dateParameter } from '../endpoint/parameters.ts';
import { requireBrand } from './find-brand.ts';
import { brandRead } from '../endpoint/kinds.ts';

const shift = (day: string, days: number): string => utcDateOfMs(Date.parse(day) + days * DAY_MS);

/**
 * Days before a window that must be covered, too. An ad is new if the day before did not show it. One that a scan of
 * the window confirms inactive was missed by an earlier scan, which may be two days older.
 */
const DAYS_BEFORE = { new_ads: 1, retired_ads: 3 } as const;
/** Complete scans of every day confirm a stop at most this many days after the first day without the ad. */
const DAYS_TO_CONFIRM = 2;

export const figureParameters = {
  figure: FigureNameField,
  from: dateParameter('First UTC day, for `new_ads` and `retired_ads`.'),
  to: dateParameter(
    `Last UTC day, for \`new_ads\` and \`retired_ads\`: at most ${FIGURE_DAYS_MAX} days, none after today.`,
  ),
} as const;

type Asked = {
  readonly figure: FigureName;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
};

/** Faults of the window as zod issues, for a query and a body. */
export const checkWindow = (
  { figure, from, to }: Asked,
  context: { addIssue: (issue: { code: 'custom'; path: string[]; message: string }) => void },
): void => {
  const refuse = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message });
  for (const [path, day] of Object.entries({ from, to })) {
    if (FIGURES[figure].window && day === undefined)
      refuse(path, `\`${figure}\` is counted over a window: send \`from\` and \`to\``);
    if (!FIGURES[figure].window && day !== undefined)
      refuse(path, `\`${figure}\` has no window: leave out \`from\` and \`to\``);
  }
  if (from === undefined || to === undefined) return;
  if (from < DATE_EARLIEST) refuse('from', `must be a date from ${DATE_EARLIEST} on`);
  if (from > to) refuse('from', '`from` must not be after `to`');
  if (shift(from, FIGURE_DAYS_MAX) <= to)
    refuse('to', `at most ${FIGURE_DAYS_MAX} days from \`from\` to \`to\``);
};

/** Throws `Refusal` for a window that ends after today. */
export const requireFigure = ({ figure, from, to }: Asked, now: Date): Figure => {
  if (to !== undefined && to > utcDate(now.toISOString())) {
    const message = '`to` must not be after today (UTC)';
    throw new Refusal('invalid_input', message, [{ path: 'to', message, code: 'window_in_future' }]);
  }
  return { name: figure, from: from ?? null, to: to ?? null };
};

const NONE_SHOWN = 'No scan showed one that is sure to count.';

type Bound<Value> = { readonly value: Value; readonly reason: string };

const OTHER_PAGES = 'Ads on pages that are not linked count once a scan shows them.';

const isCovered = ({ pages, uncoveredDays }: LinkedPagesCoverage): boolean =>
  pages > 0 && uncoveredDays.length === 0;

const uncoveredReason = ({ pages, uncoveredDays, gapsTotal }: LinkedPagesCoverage): string => {
  if (pages === 0) return 'No page is linked to the brand, so no scan covers all of its ads.';
  const days = uncoveredDays.length === 1 ? String(uncoveredDays[0]) : `${uncoveredDays.length} days`;
  return gapsTotal === 0
    ? `Complete scans did not cover all pages linked to the brand on ${days}, and a page that was not scanned may have any number of ads.`
    : `Complete scans did not cover each linked page in each country on ${days} (missing scans: ${gapsTotal}), and a page that was not scanned may have any number of ads.`;
};

type Reading = { readonly db: ReadDatabase; readonly brandId: string; readonly value: number };
type Bounds = {
  readonly atLeast: Bound<number>;
  readonly atMost: Bound<number | null>;
  readonly coverage: LinkedPagesCoverage;
};

const NOTHING_COVERED: LinkedPagesCoverage = {
  pages: 0,
  countries: [],
  uncoveredDays: [],
  gaps: [],
  gapsTotal: 0,
};

/** Bounds of the ads that ran on the day of the newest scan. */
const boundActive = async ({ db, brandId, value }: Reading, lookedAt: string | null): Promise<Bounds> => {
  if (lookedAt === null) {
    const reason = 'No scan of the brand was recorded.';
    return { atLeast: { value: 0, reason }, atMost: { value: null, reason }, coverage: NOTHING_COVERED };
  }
  const day = utcDate(lookedAt);
  const [seen, coverage] = await Promise.all([
    countAdsSeenOn(db, brandId, day),
    readGaps(db, brandId, day, day),
  ]);
  const atLeast = Math.min(value, seen);
  return {
    atLeast: { value: atLeast, reason: `Scans of ${day}, the day of the newest one, showed them running.` },
    atMost: isCovered(coverage)
      ? {
          value,
          reason: `Complete scans of ${day} covered each linked page in each country. Ads that they did not show and that are not confirmed inactive: ${value - atLeast}. ${OTHER_PAGES}`,
        }
      : { value: null, reason: uncoveredReason(coverage) },
    coverage,
  };
};

const boundWindow = async (
  { db, brandId, value }: Reading,
  name: 'new_ads' | 'retired_ads',
  { from, to, today }: { readonly from: string; readonly to: string; readonly today: string },
): Promise<Bounds> => {
  const first = shift(from, -DAYS_BEFORE[name]);
  const coverage = await readGaps(db, brandId, first, to);
  const counted = { value, reason: 'Scans of reliable days of the window showed them.' };
  if (isCovered(coverage) && to < today) {
    const reason = `Complete scans covered each linked page in each country on every day from ${first} to ${to}. ${OTHER_PAGES}`;
    return { atLeast: counted, atMost: { value, reason }, coverage };
  }
  const reason = isCovered(coverage)
    ? `${to} is not over, so further scans of it may come.`
    : uncoveredReason(coverage);
  const atMost = { value: null, reason };
  if (name === 'retired_ads') {
    const stopped = await countAdsStopped(db, brandId, from, shift(to, -DAYS_TO_CONFIRM));
    const why =
      'They were seen running in the window, and confirmed inactive so early that scans of every day would have confirmed it in the window, too.';
    return { atLeast: { value: Math.min(value, stopped), reason: why }, atMost, coverage };
  }
  if (coverage.pages > 0 && !coverage.uncoveredDays.includes(first))
    return { atLeast: counted, atMost, coverage };
  const begun = await countAdsBegun(db, brandId, from, to);
  const why = 'Scans showed them by the end of the window, and by the library they started within it.';
  return { atLeast: { value: Math.min(value, begun), reason: why }, atMost, coverage };
};

const bound = async (
  reading: Reading,
  { name, from, to }: Figure,
  lookedAt: string | null,
  today: string,
): Promise<Bounds> => {
  switch (name) {
    case 'active_ads':
      return await boundActive(reading, lookedAt);
    case 'new_ads':
    case 'retired_ads':
      return await boundWindow(reading, name, { from: from ?? today, to: to ?? today, today });
    case 'total_ads':
      return {
        atLeast: { value: reading.value, reason: 'Scans showed them.' },
        atMost: {
          value: null,
          reason: 'Ads that ended before the first scan, or between two, were never observed.',
        },
        coverage: NOTHING_COVERED,
      };
  }
};

/** Rules of services/domain/README.md: 1 for missing ads, 3 for new ones, 9 for reliable days. */
export const readBounds = async (
  db: ReadDatabase,
  brandId: string,
  figure: Figure,
  now: Date,
): Promise<{ readonly bounds: FigureBounds; readonly lookedAt: string | null }> => {
  // Read first, so that no figure is older than the day that it is said to be of.
  const lookedAt = await readLookedAt(db, brandId);
  const value = (await readFigure(db, brandId, figure)) ?? 0;
  const today = utcDate(now.toISOString());
  const { atLeast, atMost, coverage } = await bound({ db, brandId, value }, figure, lookedAt, today);
  const bounds: FigureBounds = {
    figure: figure.name,
    rule: FIGURES[figure.name].rule,
    from: figure.from,
    to: figure.to,
    value,
    at_least: atLeast.value,
    at_least_reason: atLeast.value === 0 ? NONE_SHOWN : atLeast.reason,
    at_most: atMost.value,
    at_most_reason: atMost.reason,
    pages: coverage.pages,
    countries: [...coverage.countries],
    uncovered_days: [...coverage.uncoveredDays],
    narrowed_by: [...coverage.gaps],
    narrowed_by_total: coverage.gapsTotal,
  };
  return { bounds, lookedAt };
};

export const boundsExample: FigureBounds = {
  figure: 'active_ads',
  rule: FIGURES.active_ads.rule,
  from: null,
  to: null,
  value: 126,
  at_least: 124,
  at_least_reason: 'Scans of 2026-11-20, the day of the newest one, showed them running.',
  at_most: null,
  at_most_reason:
    'Complete scans did not cover each linked page in each country on 2026-11-20 (missing scans: 1), and a page that was not scanned may have any number of ads.',
  pages: 2,
  countries: ['US'],
  uncovered_days: ['2026-11-20'],
  narrowed_by: [{ page_id: '104857600123456', country: 'US', day: '2026-11-20' }],
  narrowed_by_total: 1,
};

export const getBrandBounds = endpoint({
  ...brandRead,
  path: '/v1/brands/{brandId}/bounds',
  operationId: 'getBrandBounds',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read the bounds of a figure',
  description: `What the true figure is at least and at most, why, and which complete scans would narrow it. The bounds are about the pages linked to the brand now, in the countries that scans of the last ${COVERAGE_DAYS} days asked for, and about ads that scans showed elsewhere. \`active_ads\` are bounded for the UTC day of the newest scan, \`new_ads\` and \`retired_ads\` as complete scans of every day would count them. Start dates are those of the library.`,
  query: z.strictObject(figureParameters).superRefine(checkWindow),
  reply: { status: 200, shape: 'record', data: FigureBounds, example: boundsExample },
  heavy: true,
  reads: READ_MODELS_OF_BOUNDS,
  beyondContract: true,
  handler: async ({ params, query }, { db, clock }) => {
    const now = clock.now();
    const figure = requireFigure(query, now);
    const brand = await requireBrand(db, params.brandId);
    const { bounds, lookedAt } = await readBounds(db, brand.brand_id, figure, now);
    return { data: JSON.stringify(bounds), asOf: lookedAt ?? brand.profiled_at };
  },
});
