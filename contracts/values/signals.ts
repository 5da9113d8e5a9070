import { z } from 'zod';

/**
 * Closed list. What a signal says changed at a brand on one day, never why. The first three group radar items;
 * the others are activity.
 */
export const SignalKind = z.enum([
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
]);
export type SignalKind = z.infer<typeof SignalKind>;

/** What the trigger `activity` of alert rules fires on. */
export const ACTIVITY_KINDS = SignalKind.options.slice(3);

/**
 * From where on something is a signal: the one table of thresholds (DESIGN §9). All of them are reached by what is
 * equal to them. Shares are of 1.
 *
 * No signal is computed across unreliable days: each day that a figure is taken from is reliable. Ads that came to
 * be counted without having started (those of a page's first scan, and late-seen ones) and formats that another
 * collector words differently are taken off first: they are coverage, not activity. What lasts is told once, on
 * the first reliable day that shows it.
 */
export const SIGNAL_THRESHOLDS = {
  /** Active ads up, as a share and as a number, on a reliable day so many days before. */
  ramp: { share: 0.5, ads: 10, daysBefore: 7 },
  /** Active ads down, likewise. */
  drop: { share: 0.4, ads: 10, daysBefore: 7 },
  /** Started ads of a day: at least `ads`, and so many times the mean of the reliable days of the window before. */
  launch_burst: { ads: 10, times: 3, windowDays: 28 },
  /** Ads with sale copy started on a reliable day; or the share of a wholly read catalogue that got cheaper. */
  sale: { ads: 3, catalogueShare: 0.1 },
  /** The share of one format among active ads moved, with at least `ads` active ads on both reliable days. */
  format_mix_shift: { share: 0.2, ads: 20, daysBefore: 28 },
  /** Copy or link changed so many days, or more, after the ad's start date in the library. */
  long_runner_refreshed: { ageDays: 60 },
} as const;

/** Of what a signal stands for, so many are named in it, the first observed. */
export const SIGNAL_NAMES_MAX = 10;

/** Words that sales are announced with, in the languages most ads of the corpus are in. */
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

/** Whether an ad's copy announces a sale: automated classification, which can be wrong. */
export const isSaleCopy = (texts: readonly (string | null)[]): boolean =>
  texts.some((text) => text !== null && SALE_COPY.test(text));
