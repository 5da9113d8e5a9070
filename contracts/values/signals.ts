import { z } from 'zod';

/** Closed list of observed changes, not causes. The first three group radar items; the others are activity. */
export const SignalKind = z
  .enum([
    'ads_started',
    'ads_stopped',
    'destinations_changed',
    'ramp',
    'drop',
    'launch_burst',
    'sale',
    'new_landing_page',
    'new_linked_page',
    'new_whitelisting_pair',
    'format_mix_shift',
    'long_runner_refreshed',
  ])
  .meta({
    id: 'SignalKind',
    description: 'Kind of change; the first three group radar items, the others are activity.',
  });
export type SignalKind = z.infer<typeof SignalKind>;

/** They fire the trigger `activity` of alert rules. */
export const ACTIVITY_KINDS = SignalKind.options.slice(3);

/**
 * Equality reaches a threshold; shares are fractions of 1. Only reliable days count. Ads that came into view without
 * having started, and formats that a new collector words differently, are coverage and subtracted first. A lasting
 * change gives one signal, on its first reliable day.
 */
export const SIGNAL_THRESHOLDS = {
  /** Rise of active ads against the reliable day `daysBefore` days earlier. */
  ramp: { share: 0.5, ads: 10, daysBefore: 7 },
  /** Fall of active ads, measured in the same way. */
  drop: { share: 0.4, ads: 10, daysBefore: 7 },
  /** Ads started on a day: at least `ads`, and `times` the mean of the reliable days in the window. */
  launch_burst: { ads: 10, times: 3, windowDays: 28 },
  /** Ads with sale copy on a reliable day, or share of a completely read catalogue that got cheaper. */
  sale: { ads: 3, catalogueShare: 0.1 },
  /** Change of a format's share, with at least `ads` active ads on both reliable days. */
  format_mix_shift: { share: 0.2, ads: 20, daysBefore: 28 },
  /** Days from the ad's start date in the library to the change of its copy or link. */
  long_runner_refreshed: { ageDays: 60 },
} as const;

/** Earliest observed first. */
export const SIGNAL_NAMES_MAX = 10;

/** In the languages of most ads of the corpus. */
const SALE_COPY = new RegExp(
  `(?<!\\p{L})(?:${[
    '(?<!for )sale',
    'clearance',
    'discounts?',
    'discounted',
    'coupons?',
    'promo code',
    'black friday',
    'cyber monday',
    '\\d{1,2} ?% ?(?:off|rabatt|de descuento|de réduction|de remise)',
    '[$€£]\\d+ off',
    'save (?:up to )?(?:[$€£]\\d+|\\d{1,2} ?%)',
    'rabatt',
    'schlussverkauf',
    'rebajas',
    'soldes',
  ].join('|')})(?!\\p{L})`,
  'iu',
);

export const isSaleCopy = (texts: readonly (string | null)[]): boolean =>
  texts.some((text) => text !== null && SALE_COPY.test(text));
