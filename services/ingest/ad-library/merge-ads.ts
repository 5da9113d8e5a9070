import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { shortenAd } from '#contracts/observations/shorten-ad.ts';
import { cardOfAd } from '../readers/fields/ad-fields.ts';

type AdCard = ObservedAd['cards'][number];
type AdMedia = ObservedAd['media'][number];

/** Rows with the same key are one version; without a key, the content is compared. */
export type AdRow = {
  readonly ad: ObservedAd;
  readonly version: { readonly key: string | null; readonly card: AdCard };
};

const isBlank = (value: unknown): boolean =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0);

/** The first non-empty value of a field counts; media and versions add up (rule 8). May exceed the limits of an ad. */
export const mergeAds = (rows: readonly [AdRow, ...AdRow[]]): ObservedAd => {
  const [first] = rows;
  if (rows.length === 1) return first.ad;
  const ad: { [field: string]: unknown } = { ...first.ad };
  const media = new Map<string, AdMedia>();
  const versions = new Map<string, AdCard>();
  for (const row of rows) {
    for (const [field, value] of Object.entries(row.ad)) if (isBlank(ad[field])) ad[field] = value;
    for (const medium of row.ad.media) media.set(`${medium.kind}|${medium.url}|${medium.poster_url}`, medium);
    if (row.ad.versions.length === 0 && Object.values(row.version.card).some((text) => text !== null))
      versions.set(row.version.key ?? JSON.stringify(row.version.card), row.version.card);
    for (const card of row.ad.versions) versions.set(JSON.stringify(card), card);
  }
  const merged = { ...(ad as ObservedAd), media: [...media.values()] };
  return versions.size > 1 ? { ...merged, versions: [...versions.values()] } : merged;
};

/** Derived from the content, so that entries in any order give the same. */
const sortKeyOf = (ad: ObservedAd): string =>
  JSON.stringify([ad.page_id === null, ad.page_id, ad.is_active !== true, ad]);

/** Sorted with pages and active ads first, so that the order in the scan does not count. Cut to the limits of an ad. */
export const mergeEntries = (entries: readonly [ObservedAd, ...ObservedAd[]]): ObservedAd => {
  if (entries.length === 1) return entries[0];
  const [first, ...others] = entries
    .map((ad) => ({ key: sortKeyOf(ad), row: { ad, version: { key: null, card: cardOfAd(ad) } } }))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ row }) => row) as [AdRow, ...AdRow[]];
  return shortenAd(mergeAds([first, ...others])).ad;
};
