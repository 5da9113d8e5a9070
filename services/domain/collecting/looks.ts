/**
 * A look reads the first answer about pages alone, between two scans. It finds new ads where the calls do not suffice for
 * all scans. It never tells that an ad stopped.
 */

/** Pairs of ads with different start dates that tell whether an answer is newest first. Fewer tell nothing. */
const PAIRS_MIN = 8;
/** Share of these pairs that may be in the other order: an ad can start days after it was created. */
const OTHER_ORDER_MAX = 0.25;

/**
 * Tells whether an answer lists ads newest first, by their start dates in its order; `null` for an unknown date. The dates
 * of a random order ascend in half of the pairs.
 */
export const isNewestFirst = (startedOn: readonly (string | null)[]): boolean => {
  const known = startedOn.filter((date) => date !== null);
  const pairs = known.slice(1).flatMap((date, index) => {
    const before = known[index] as string;
    return date === before ? [] : [date > before];
  });
  return pairs.length < PAIRS_MIN || pairs.filter(Boolean).length <= pairs.length * OTHER_ORDER_MAX;
};

/** Returns the ads of each page before its first known one, in their order. Those after it were seen before. */
export const adsBeforeKnown = <Ad extends { readonly ad_id: string; readonly page_id: string }>(
  ads: readonly Ad[],
  known: ReadonlyMap<string, ReadonlySet<string>>,
): readonly Ad[] => {
  const ended = new Set<string>();
  return ads.filter(({ ad_id: adId, page_id: pageId }) => {
    if (known.get(pageId)?.has(adId)) ended.add(pageId);
    return !ended.has(pageId);
  });
};
