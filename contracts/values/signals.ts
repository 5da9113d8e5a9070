import { z } from 'zod';

/**
 * Closed list of signal kinds. A signal says which change was observed at a brand on one day, not its cause. The
 * first three group radar items; the others are activity.
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

/** Kinds that fire the trigger `activity` of alert rules. */
export const ACTIVITY_KINDS = SignalKind.options.slice(3);

/**
 * Thresholds of all signals. A value equal to a threshold reaches it. Shares are fractions of 1.
 * No signal uses an unreliable day: every day that a figure is taken from is reliable. Two effects are coverage,
 * not activity, and are subtracted first. One is ads that came into view without having started: those of a page's
 * first scan, and late-seen ones. The other is formats that a new collector words differently. A lasting change
 * gives one signal, on the first reliable day that shows it.
 */
export const SIGNAL_THRESHOLDS = {
  /** Rise of active ads, as a share and as a number, against the reliable day `daysBefore` days earlier. */
  ramp: { share: 0.5, ads: 10, daysBefore: 7 },
  /** Fall of active ads, measured in the same way. */
  drop: { share: 0.4, ads: 10, daysBefore: 7 },
  /**
   * Ads started on a day: at least `ads`, and at least `times` the mean of the reliable days in the preceding
   * window.
   */
  launch_burst: { ads: 10, times: 3, windowDays: 28 },
  /**
   * Number of ads with sale copy started on a reliable day, or share of a completely read catalogue that got
   * cheaper.
   */
  sale: { ads: 3, catalogueShare: 0.1 },
  /** Change of one format's share of active ads, with at least `ads` active ads on both reliable days. */
  format_mix_shift: { share: 0.2, ads: 20, daysBefore: 28 },
  /** Minimum age of the ad, in days since its start date in the library, when its copy or link changed. */
  long_runner_refreshed: { ageDays: 60 },
} as const;

/** Maximum objects named in one signal, earliest observed first. */
export const SIGNAL_NAMES_MAX = 10;

/** Words that announce a sale, in the languages of most ads of the corpus. */
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

/** Returns whether an ad's copy announces a sale. This is automated classification and can be wrong. */
export const isSaleCopy = (texts: readonly (string | null)[]): boolean =>
  texts.some((text) => text !== null && SALE_COPY.test(text));
