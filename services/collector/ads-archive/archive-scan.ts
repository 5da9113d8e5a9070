import type { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import type { Observation } from '#contracts/observations/index.ts';
import { isCompleteReading } from '#domain/collecting/archive-coverage.ts';
import { libraryObservations } from '#domain/shapes/observations.ts';
import type { OpenBatch } from '../schedule/target-store.ts';
import type { ArchiveCursor, ArchivePass, RefusedPage } from './archive-client.ts';

const COLLECTOR = 'ads-archive-1';

export type PageAd = ObservedAd & { readonly page_id: string };

/** `after` is a hash of the platform's cursor. */
export type SpooledAnswer = {
  readonly pass: ArchivePass;
  readonly list: number;
  readonly after: string | null;
  readonly ads: readonly PageAd[];
};

export type ArchiveScan = {
  readonly ads: readonly PageAd[];
  /** False when the absence of an ad proves nothing. */
  readonly complete: boolean;
  readonly doubted: readonly string[];
  readonly refusedPages: readonly RefusedPage[];
  /** False when ended ads were requested but not read to their end. */
  readonly stopsRead: boolean;
  readonly detail: string;
};

export const spooledAnswers = async (
  batch: Pick<OpenBatch<ArchiveCursor>, 'pages'>,
): Promise<readonly SpooledAnswer[]> =>
  (await batch.pages()).map(({ text }) => JSON.parse(text) as SpooledAnswer);

export const adsByPage = (answers: readonly SpooledAnswer[]): ReadonlyMap<string, number> => {
  const ids = new Map<string, Set<string>>();
  for (const { pass, ads } of answers) {
    if (pass === 'inactive') continue;
    for (const { page_id, ad_id } of ads) ids.set(page_id, (ids.get(page_id) ?? new Set()).add(ad_id));
  }
  return new Map([...ids].map(([pageId, found]) => [pageId, found.size]));
};

const detailOf = (cursor: ArchiveCursor, ads: number, doubted: readonly string[]): string =>
  [
    `${ads} ads`,
    ...(cursor.refusedAds === 0 ? [] : [`${cursor.refusedAds} refused (${cursor.refusedReason})`]),
    ...(cursor.cutTexts === 0 ? [] : [`${cursor.cutTexts} texts cut`]),
    ...(cursor.leftOut === 0 ? [] : [`${cursor.leftOut} entries left out`]),
    ...(cursor.looped ? ['a cursor came twice'] : []),
    ...(cursor.tokenLost ? ['the token was refused meanwhile'] : []),
    ...(doubted.length === 0 ? [] : [`pages ${doubted.join(', ')} were empty once`]),
    ...cursor.refusedPages.map(({ page_id, message }) => `page ${page_id} is refused: ${message}`),
    ...(cursor.stopsSkipped === null ? [] : [`ended ads were not read: ${cursor.stopsSkipped}`]),
  ].join('; ');

/** Depends on the spool and the cursor only, so that a repetition is equal. */
export const archiveScanOf = async (
  batch: Pick<OpenBatch<ArchiveCursor>, 'pages'>,
  cursor: ArchiveCursor,
): Promise<ArchiveScan> => {
  const answers = await spooledAnswers(batch);
  const ads = new Map<string, PageAd>();
  for (const answer of answers) for (const ad of answer.ads) ads.set(ad.ad_id, ad);
  const found = adsByPage(answers.filter(({ pass }) => pass === 'doubted'));
  // A second empty reply confirms an empty page.
  const doubted = cursor.pass === 'done' ? cursor.doubted.filter((id) => found.has(id)) : cursor.doubted;
  const complete = isCompleteReading({
    ended: cursor.pass !== 'active',
    looped: cursor.looped,
    refusedAds: cursor.refusedAds,
    tokenLost: cursor.tokenLost,
  });
  return {
    ads: [...ads.values()],
    complete,
    doubted,
    refusedPages: cursor.refusedPages,
    stopsRead: cursor.stopsSkipped === null,
    detail: detailOf(cursor, ads.size, doubted),
  };
};

export type ScannedBrand = {
  readonly domain: string;
  readonly pageIds: readonly string[];
  readonly pausedPageIds?: readonly string[];
};

/** Depends on its input only: a repetition is equal. Omits refused pages; returns nothing without a covered page. */
export const brandObservations = (
  scan: ArchiveScan,
  { domain, pageIds }: ScannedBrand,
  { startedAt, countries }: { readonly startedAt: Date; readonly countries: readonly string[] },
): readonly Observation[] => {
  const covered = [...new Set(pageIds)]
    .filter((id) => !scan.refusedPages.some(({ page_id }) => page_id === id))
    .toSorted();
  if (covered.length === 0) return [];
  const ads = scan.ads.filter(({ page_id }) => covered.includes(page_id));
  const nameOf = (id: string): string | null => ads.find(({ page_id }) => page_id === id)?.page_name ?? null;
  return libraryObservations(ads, {
    brand_domain: domain,
    scanned_at: startedAt.toISOString(),
    coverage: {
      pages: covered.map((id) => ({ page_id: id, page_name: nameOf(id) })),
      countries: [...countries],
      complete: scan.complete && !covered.some((id) => scan.doubted.includes(id)),
      collector: COLLECTOR,
    },
  });
};
