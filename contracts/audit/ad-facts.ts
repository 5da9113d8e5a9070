import type { AdLibraryEvent } from '../events/corpus/ad-library.ts';
import type { AdRecord } from '../events/corpus/ad-library-corrections.ts';
import type { AdContent } from '../events/corpus/ad-library-values.ts';
import type { ProofEvent } from './proof.ts';

/**
 * Facts of one ad from the events of a library, as the read model `ads` has them. The page of an ad runs this code in
 * browsers, so it needs nothing else.
 */

export const AD_RULE =
  'An ad is active while complete scans of its page show it, missing when one did not, and inactive when the library says so, or when two complete scans in a row, at least 20 hours apart, cover its page and country without it.';

type Ad = Pick<
  AdRecord,
  'page_id' | 'page_name' | 'status' | 'started_on' | 'stopped_on' | 'first_seen_at' | 'seen_at' | 'basis'
> & { readonly brand_id: string; readonly content: AdContent; readonly not_shown_since: boolean };

export type AdFacts = Pick<AdContent, 'title' | 'body' | 'link_url'> &
  Pick<Ad, 'page_id' | 'page_name' | 'status' | 'basis' | 'started_on' | 'stopped_on' | 'first_seen_at'> & {
    readonly last_seen_at: string;
    readonly observations: readonly {
      readonly event: ProofEvent;
      readonly at: string;
      readonly text: string;
    }[];
  };

const later = (one: string, other: string | undefined): string =>
  other !== undefined && other > one ? other : one;

const changedWords = (changes: object): string => Object.keys(changes).join(', ').replaceAll('_', ' ');

/** `null` for an event that tells nothing of the ad. */
const describeEvent = ({ type, data }: AdLibraryEvent, adId: string): string | null => {
  switch (type) {
    case 'AdStarted':
      return data.novelty === 'news'
        ? 'First seen running.'
        : 'First seen running; it may have begun long before.';
    case 'AdRevised':
      return `Shown with other contents: ${changedWords(data.changes)}.`;
    case 'AdDetailsObserved':
      return 'Shown with details that were unknown before.';
    case 'AdDestinationChanged':
      return `Its link led to ${data.to_url}, and no longer to ${data.from_url}.`;
    case 'AdConfirmedInactive':
      return data.basis === 'library'
        ? 'The library showed it as ended.'
        : 'Absent from two complete scans in a row.';
    case 'AdReturned':
      return 'Seen running again.';
    case 'AdsMissed':
      return data.ad_ids.includes(adId) ? 'Not seen by a complete scan. Not seen is not stopped.' : null;
    case 'AdsSeen':
      return data.ad_ids.includes(adId) ? 'Seen running.' : null;
    case 'AdsReworded':
      return data.ads.some(({ ad_id }) => ad_id === adId) ? 'Worded otherwise by another collector.' : null;
    case 'AdObservationCorrected':
      return 'A scan that arrived late corrected what was known.';
    case 'AdAttributed':
      return data.brand_id === data.to_brand_id ? 'Its link or page is now known as of another brand.' : null;
    case 'AdsStillInactive':
    case 'ScanRecorded':
    case 'ScanCorrected':
      return null;
  }
};

const replaced = ({ brand_id }: { readonly brand_id: string }, ad: AdRecord): Ad => ({
  ...ad,
  brand_id,
  not_shown_since: ad.not_shown_since ?? false,
});

/** `completeAt`: the last complete scan of the page of the ad before the event. */
const evolveAd = (
  ad: Ad | null,
  { type, data }: AdLibraryEvent,
  adId: string,
  completeAt: string | undefined,
): Ad | null => {
  if (type === 'AdStarted') {
    const { observed_at: first_seen_at, observed_at: seen_at, missing_since } = data;
    const status = missing_since === null ? 'active' : 'missing';
    const rest = { stopped_on: null, basis: null, not_shown_since: false } as const;
    return data.ad_id === adId ? { ...data, status, first_seen_at, seen_at, ...rest } : ad;
  }
  if (type === 'AdObservationCorrected') return data.ad_id === adId ? replaced(data, data.after) : ad;
  if (type === 'AdAttributed')
    return data.ad_id === adId && data.brand_id === data.to_brand_id ? replaced(data, data.ad) : ad;
  if (ad === null) return ad;
  const withContent = (content: Partial<AdContent>): Ad => ({
    ...ad,
    content: { ...ad.content, ...content },
  });
  switch (type) {
    case 'AdRevised':
      return data.ad_id === adId
        ? withContent(Object.fromEntries(Object.entries(data.changes).map(([name, { to }]) => [name, to])))
        : ad;
    case 'AdDetailsObserved': {
      const { page_id, page_name, started_on } = data;
      return data.ad_id === adId
        ? { ...withContent(data.details), page_id, page_name, started_on: started_on ?? ad.started_on }
        : ad;
    }
    case 'AdDestinationChanged':
      return data.ad_id === adId ? withContent({ link_url: data.to_url }) : ad;
    case 'AdConfirmedInactive': {
      const { basis, stopped_on, last_seen_at: seen_at } = data;
      return data.ad_id === adId
        ? { ...ad, status: 'inactive', basis, stopped_on, seen_at, not_shown_since: false }
        : ad;
    }
    case 'AdReturned':
      return data.ad_id === adId
        ? {
            ...ad,
            status: 'active',
            basis: null,
            stopped_on: null,
            seen_at: data.observed_at,
            not_shown_since: false,
          }
        : ad;
    case 'AdsMissed': {
      if (!data.ad_ids.includes(adId) || ad.status !== 'active') return ad;
      return {
        ...ad,
        status: 'missing',
        seen_at: ad.not_shown_since ? ad.seen_at : later(ad.seen_at, completeAt),
      };
    }
    case 'AdsSeen': {
      if (!data.ad_ids.includes(adId)) return ad;
      const status = ad.status === 'missing' ? 'active' : ad.status;
      return { ...ad, status, seen_at: later(ad.seen_at, data.observed_at), not_shown_since: false };
    }
    case 'AdsReworded':
      return withContent(data.ads.find(({ ad_id }) => ad_id === adId)?.wording ?? {});
    case 'AdsStillInactive':
    case 'ScanRecorded':
    case 'ScanCorrected':
      return ad;
  }
};

/** True for events of a library without which the facts of the ad would be others. */
export const isAboutAd = (data: string, type: string, adId: string): boolean =>
  type === 'ScanRecorded' || data.includes(JSON.stringify(adId));

const inLogOrder = (one: ProofEvent, other: ProofEvent): number => {
  const difference = BigInt(one.position ?? 0) - BigInt(other.position ?? 0);
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  return one.recorded_at < other.recorded_at ? -1 : 1;
};

/** `null` when the events tell of no such ad. */
export const readAdFacts = (events: readonly ProofEvent[], adId: string): AdFacts | null => {
  const completeAt = new Map<string, string>();
  const observations: AdFacts['observations'][number][] = [];
  let ad: Ad | null = null;
  const lastComplete = (): string | undefined =>
    ad === null ? undefined : completeAt.get(`${ad.brand_id} ${ad.page_id}`);
  for (const event of events.toSorted(inLogOrder)) {
    if (!event.stream.startsWith('adLibrary-')) continue;
    const { type, data } = { type: event.type, data: JSON.parse(event.data) } as AdLibraryEvent & ProofEvent;
    const recorded = { type, data } as AdLibraryEvent;
    ad = evolveAd(ad, recorded, adId, lastComplete());
    const text =
      'ad_id' in recorded.data && recorded.data.ad_id !== adId ? null : describeEvent(recorded, adId);
    if (text !== null) observations.push({ event, at: recorded.data.observed_at, text });
    if (recorded.type !== 'ScanRecorded' || !recorded.data.complete) continue;
    const { brand_id, observed_at, pages } = recorded.data;
    for (const { page_id, partial } of pages) {
      const page = `${brand_id} ${page_id}`;
      if (page_id !== '' && !partial) completeAt.set(page, later(observed_at, completeAt.get(page)));
    }
  }
  if (ad === null) return null;
  const { content, page_id, page_name, status, basis, started_on, stopped_on, first_seen_at, seen_at } = ad;
  const { title, body, link_url } = content;
  const isImplied = status === 'active' && !ad.not_shown_since;
  return {
    title,
    body,
    link_url,
    page_id,
    page_name,
    status,
    basis,
    started_on,
    stopped_on,
    first_seen_at,
    last_seen_at: isImplied ? later(seen_at, lastComplete()) : seen_at,
    observations: observations.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at)),
  };
};
