/** The library takes ten pages in a call. */
export const BATCH_PAGES_MAX = 10;
/** A page with more ads is a batch of its own. */
export const BATCH_ADS_MAX = 1_000;

export type ExpectedPage = { readonly pageId: string; readonly ads: number };
export type PageBatch = { readonly pageIds: readonly string[]; readonly ads: number };

/** Most ads first, then by id, so that equal input gives equal batches. */
const byAds = (a: ExpectedPage, b: ExpectedPage): number =>
  b.ads - a.ads || (a.pageId < b.pageId ? -1 : a.pageId > b.pageId ? 1 : 0);

/** Packs by first-fit decreasing. A shared page is in one batch, with its largest number of ads. */
export const packBatches = (pages: readonly ExpectedPage[]): readonly PageBatch[] => {
  const ads = new Map<string, number>();
  for (const page of pages) ads.set(page.pageId, Math.max(page.ads, ads.get(page.pageId) ?? 0));
  const sorted = [...ads].map(([pageId, count]) => ({ pageId, ads: count })).toSorted(byAds);
  const batches: { pageIds: string[]; ads: number }[] = [];
  const fewestAds = sorted.at(-1)?.ads ?? 0;
  const isFull = ({ pageIds, ads: packed }: PageBatch): boolean =>
    pageIds.length === BATCH_PAGES_MAX || packed + fewestAds > BATCH_ADS_MAX;
  let firstOpen = 0;
  for (const page of sorted) {
    for (let open = batches[firstOpen]; open !== undefined && isFull(open); open = batches[firstOpen]) {
      firstOpen += 1;
    }
    const room = batches.findIndex(
      (batch, index) =>
        index >= firstOpen && batch.pageIds.length < BATCH_PAGES_MAX && batch.ads + page.ads <= BATCH_ADS_MAX,
    );
    const batch = batches[room];
    if (batch === undefined) batches.push({ pageIds: [page.pageId], ads: page.ads });
    else {
      batch.pageIds.push(page.pageId);
      batch.ads += page.ads;
    }
  }
  return batches;
};

/** Average for the usual page size. */
const ADS_PER_CALL = 250;
/** Average calls of a batch for stopped ads. */
const CALLS_FOR_STOPS = 1.5;

/** Expected calls. The end of a list takes one more. */
export const callsOf = ({ ads }: Pick<PageBatch, 'ads'>): number =>
  Math.ceil(ads / ADS_PER_CALL) + 1 + CALLS_FOR_STOPS;

export type DueBrand = { readonly domain: string; readonly pages: readonly ExpectedPage[] };

/** Returns the first brand and later ones that fit. Shared pages count once; brands without pages are omitted. */
export const fillBatch = (due: readonly DueBrand[]): readonly DueBrand[] => {
  const chosen: DueBrand[] = [];
  const pages = new Map<string, number>();
  for (const brand of due) {
    if (brand.pages.length === 0) continue;
    const added = new Map(brand.pages.map(({ pageId, ads }) => [pageId, ads]));
    const all = new Map([...added, ...pages]);
    const ads = [...all.values()].reduce((sum, count) => sum + count, 0);
    if (chosen.length > 0 && (all.size > BATCH_PAGES_MAX || ads > BATCH_ADS_MAX)) continue;
    chosen.push(brand);
    for (const [pageId, count] of added) if (!pages.has(pageId)) pages.set(pageId, count);
  }
  return chosen;
};

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
