/** A look reads only the first reply about pages, between two scans. It finds new ads but never ends an ad. */

/** Minimum pairs of ads with different start dates; fewer prove no order. */
const PAIRS_MIN = 8;
/** Some pairs may be in the other order, because an ad can start days after its creation. */
const OTHER_ORDER_MAX = 0.25;

/** Decides by start dates (`null`: unknown). In a random order, half of the pairs ascend. */
export const isNewestFirst = (startedOn: readonly (string | null)[]): boolean => {
  const known = startedOn.filter((date) => date !== null);
  const pairs = known.slice(1).flatMap((date, index) => {
    const before = known[index] as string;
    return date === before ? [] : [date > before];
  });
  return pairs.length < PAIRS_MIN || pairs.filter(Boolean).length <= pairs.length * OTHER_ORDER_MAX;
};

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
