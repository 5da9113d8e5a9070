import { HOUR_MS } from '#contracts/values/time.ts';
import { arrayText, lastStringField } from '#contracts/values/json-text.ts';
import type { Page, ReadDatabase } from '#contracts/ports/read-database.ts';
import { findBrand } from '#projections/brands/read.ts';
import type { PastBasis } from '#application/as-of/past-reads.ts';
import type { Log } from '#platform/logger.ts';

/** `data` is JSON text; the other values are for `meta` and headers. */
export type Reply = {
  readonly data: string;
  /**
   * Last observation that the read model has applied. `null`: now, or nothing was ever observed; `run-handler.ts`
   * replaces it when the read model is behind.
   */
  readonly asOf: string | null;
  readonly count?: number;
  /** Items of all pages, where that is known. */
  readonly total?: number;
  /** `null` on the last page. */
  readonly next?: readonly (string | number)[] | null;
  /** JSON text. */
  readonly freshness?: string;
  /** Log position of a write; `null` when nothing was appended. `run-handler.ts` sets that of a read. */
  readonly position?: bigint | null;
  /** Set by `read-past.ts`: what the answer of a past moment rests on. */
  readonly past?: PastBasis;
  /** Token of a list of changes, for the header of its last page. */
  readonly sinceToken?: string;
  /** Path of what describes a record, for the header `link`. */
  readonly describedBy?: string;
  /** Such a reply is stored for repeated requests only briefly. */
  readonly shownOnce?: ShownOnce;
};

/** `null` when the reply shows another secret than an API key. */
export type ShownOnce = { readonly keyId: string | null };

export const SINCE_TOKEN_HEADER = 'x-next-since-token';

/** Rows of all pages are one reply, so their first page has the token too. */
export const sinceTokenHeader = (
  { sinceToken, next }: Reply,
  areRows = false,
): Readonly<Record<string, string>> =>
  sinceToken === undefined || (next && !areRows) ? {} : { [SINCE_TOKEN_HEADER]: sinceToken };

export const pastHeadersOf = ({ past }: Reply): Readonly<Record<string, number>> =>
  past === undefined ? {} : { 'x-as-of-events': past.events, 'x-as-of-late-events': past.late };

/**
 * Age in hours, rounded up to hundredths and never negative: an observer's clock may be ahead. `now`: milliseconds
 * since 1970.
 */
export const lagHours = (asOf: string | null, now: number): number =>
  asOf === null ? 0 : Math.max(0, Math.ceil((now - Date.parse(asOf)) / (HOUR_MS / 100)) / 100);

/** Compares times with different numbers of fractional digits. `null` without a time. */
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

/** Earliest time, for a reply that joins several read models. `null` without a time. */
export const oldestOf = (times: readonly (string | null)[]): string | null => {
  const known = times.filter((time) => time !== null);
  return known.toSorted((one, other) => Date.parse(one) - Date.parse(other))[0] ?? null;
};

/** The objects nested in these items must have no field of that name. */
export const latestIn = (items: readonly string[], field: string): string | null =>
  latestOf(items.map((item) => lastStringField(item, field)));

export const pageReply = (page: Page, asOf: string | null): Reply => ({
  data: arrayText(page.items),
  asOf,
  count: page.items.length,
  next: page.next,
});

export const listReply = (items: readonly string[], asOf: string | null): Reply => ({
  data: arrayText(items),
  asOf,
  count: items.length,
});

/**
 * Reads the newest observation before an empty page is read again, so that the page lacks nothing observed until then.
 */
export const pageAsOf = async <Found extends Page>(
  read: () => Promise<Found>,
  asOfItems: (found: Found) => string | null,
  readNewest: () => Promise<string | null>,
): Promise<Reply> => {
  const found = await read();
  const asOf = asOfItems(found);
  if (asOf !== null) return pageReply(found, asOf);
  const newest = await readNewest();
  const again = await read();
  return pageReply(again, asOfItems(again) ?? newest);
};

/**
 * The last observation of the brand in the read model of the list, else of its profile; without a brand, of the
 * corpus.
 */
export const readAsOfEmptyList = async (
  db: ReadDatabase,
  brandId: string | undefined,
  readOfBrand: (brandId: string) => Promise<string | null>,
  readNewest: () => Promise<string | null>,
): Promise<string | null> =>
  (brandId === undefined
    ? null
    : ((await readOfBrand(brandId)) ?? (await findBrand(db, { id: brandId }))?.profiled_at)) ?? readNewest();

/**
 * Reads the row of a write, else renders the state of the log. A failed read must not fail a write that is recorded.
 */
export const writtenText = async (
  { isShown, log }: { readonly isShown: boolean; readonly log: Log },
  read: () => Promise<string | null>,
  render: () => string | Promise<string>,
): Promise<string> => {
  if (!isShown) return render();
  const row = await read().catch((error: unknown) => {
    log.warn({ err: error }, 'written row not readable; replied from the log');
    return null;
  });
  return row ?? render();
};
