import type { Page } from '#contracts/ports/read-database.ts';

/** What a handler answers: JSON text, and what the envelope says about it. */
export type Reply = {
  readonly data: string;
  /** `null`: now, as for a workspace's own records. */
  readonly asOf: string | null;
  /** Items of a list. */
  readonly count?: number;
  /** Sort key of the last item when more follow. */
  readonly next?: readonly (string | number)[] | null;
  /** JSON text. */
  readonly freshness?: string;
  /** Where a write stands in the log. */
  readonly position?: bigint | null;
};

/** How handlers put stored JSON texts together into answers. */

export const listText = (items: readonly string[]): string => `[${items.join(',')}]`;

/** The latest of some times, however many fractional digits they have; `null` of none. */
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

/**
 * The latest time under `"<field>":"…"` in stored items. Reads the last such field of each text: it is the
 * item's own, since what is nested in these items has none of that name.
 */
export const latestIn = (items: readonly string[], field: string): string | null => {
  const start = `"${field}":"`;
  return latestOf(
    items.map((item) => {
      const at = item.lastIndexOf(start);
      if (at < 0) return null;
      const from = at + start.length;
      return item.slice(from, item.indexOf('"', from));
    }),
  );
};

/** A page of stored items, as of the latest time in `field`. */
export const pageReply = (page: Page, asOf: string | null): Reply => ({
  data: listText(page.items),
  asOf,
  count: page.items.length,
  next: page.next,
});

/** A list without pages. */
export const listReply = (items: readonly string[], asOf: string | null): Reply => ({
  data: listText(items),
  asOf,
  count: items.length,
});
