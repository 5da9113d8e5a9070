import { HOUR_MS } from '#contracts/values/time.ts';
import { arrayText, lastStringField } from '#contracts/values/json-text.ts';
import type { Page } from '#contracts/ports/read-database.ts';

/** Result of a handler: `data` as JSON text, and the values for `meta` and headers. */
export type Reply = {
  readonly data: string;
  /**
   * Time at which `data` holds: the last observation that its read model has applied. `null` means now, as for records
   * of a workspace, or when nothing was ever observed. For a read model that is behind, `run-handler.ts` replaces `null`.
   */
  readonly asOf: string | null;
  /** Number of items of a list. */
  readonly count?: number;
  /** Sort key of the last item of a page. `null` on the last page. */
  readonly next?: readonly (string | number)[] | null;
  /** `meta.freshness` as JSON text. */
  readonly freshness?: string;
  /**
   * Log position of a write; `null` when nothing was appended. `run-handler.ts` sets that of a read: the position up to which it may
   * show the log, when another process may show less.
   */
  readonly position?: bigint | null;
  /** Set when `data` holds a text that no other reply shows. It is stored for repeated requests only briefly. */
  readonly shownOnce?: ShownOnce;
};

/** The issued API key whose text a reply shows. `null` when the reply shows another secret. */
export type ShownOnce = { readonly keyId: string | null };

/**
 * Returns the age of `asOf` in hours, rounded up to hundredths: only figures that hold now have the age 0. 0 when `asOf`
 * is `null`. The clock of an observer may be ahead of ours; the age is never negative. `now`: milliseconds since 1970.
 */
export const lagHours = (asOf: string | null, now: number): number =>
  asOf === null ? 0 : Math.max(0, Math.ceil((now - Date.parse(asOf)) / (HOUR_MS / 100)) / 100);

/** Returns the latest time. The number of fractional digits may differ. `null` without a time. */
export const latestOf = (times: readonly (string | null)[]): string | null => {
  let latest: string | null = null;
  let latestMs = Number.NEGATIVE_INFINITY;
  for (const time of times) {
    if (time === null) continue;
    const ms = Date.parse(time);
    if (ms > latestMs) {
      latestMs = ms;
      latest = time;
    }
  }
  return latest;
};

/** Returns the earliest time, for a reply that joins several read models. `null` without a time. */
export const oldestOf = (times: readonly (string | null)[]): string | null => {
  const known = times.filter((time) => time !== null);
  return known.toSorted((one, other) => Date.parse(one) - Date.parse(other))[0] ?? null;
};

/**
 * Returns the latest time in this field of stored items. The objects nested in these items have no field of that
 * name.
 */
export const latestIn = (items: readonly string[], field: string): string | null =>
  latestOf(items.map((item) => lastStringField(item, field)));

/** Returns a page of stored items. */
export const pageReply = (page: Page, asOf: string | null): Reply => ({
  data: arrayText(page.items),
  asOf,
  count: page.items.length,
  next: page.next,
});

/** Returns a list that is not paged. */
export const listReply = (items: readonly string[], asOf: string | null): Reply => ({
  data: arrayText(items),
  asOf,
  count: items.length,
});
