import { expect } from 'vitest';
import type { AdLibraryEvent, ScanRecorded } from '#contracts/events/corpus/ad-library.ts';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { utcDate } from '#contracts/values/time.ts';
import { brandIdOf } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { isForgotten, isRefused, type PlayedFault } from './page-faults.ts';
import { adsAt, type AdText, type PlayedBrand, type ShownAd, type Weeks } from './played-weeks.ts';

type ClaimedAd = {
  readonly pageId: string;
  readonly startedIn: string;
  readonly isRunning: boolean;
  readonly text: AdText;
};

type Claim = Extract<
  AdLibraryEvent,
  { readonly type: 'AdStarted' | 'AdConfirmedInactive' | 'AdReturned' | 'AdRevised' }
>;

export type Library = {
  readonly domain: string;
  readonly ownPageIds: readonly string[];
  readonly faults: readonly PlayedFault[];
  /** Scans that could not read ended ads, as `scanKey` names them. */
  readonly withoutEnded: ReadonlySet<string>;
  readonly ads: Map<string, ClaimedAd>;
  /** Ads that were missed since the last scan that read ended ads. */
  readonly missing: Set<string>;
  /** Running ads of each page in its last complete scan. */
  readonly shown: Map<string, number>;
  readonly scannedOn: Map<string, string>;
  /** Pages that complete scans covered, by day. */
  readonly coveredOn: Map<string, Set<string>>;
};

type Scan = {
  readonly end: ScanRecorded['data'];
  readonly world: ReadonlyMap<string, ShownAd>;
  readonly claims: readonly Claim[];
  readonly missed: readonly string[];
  readonly seen: readonly string[];
  readonly where: string;
};

const readEvents = async (eventStore: EventStore, brand: PlayedBrand): Promise<readonly AdLibraryEvent[]> => {
  const events: AdLibraryEvent[] = [];
  const stream = adLibraryStream(brandIdOf(brand.brand.domain));
  for await (const event of eventStore.read<AdLibraryEvent>(stream)) events.push(event);
  return events;
};

/** `at`: start of the scan, as `toISOString` shows it. */
export const scanKey = (domain: string, at: string): string => `${domain} at ${at}`;

const scanOf = (
  weeks: Weeks,
  brand: PlayedBrand,
  events: readonly AdLibraryEvent[],
  end: ScanRecorded['data'],
): Scan => {
  const where = scanKey(brand.brand.domain, end.observed_at);
  const [claims, missed, seen]: [Claim[], string[], string[]] = [[], [], []];
  const world = adsAt(weeks, brand, Date.parse(end.observed_at));
  for (const event of events) {
    const { scan_id } = event.data as ScanRecorded['data'];
    expect(scan_id, `${event.type} of the scan of ${where}`).toBe(end.scan_id);
    switch (event.type) {
      case 'AdStarted':
      case 'AdConfirmedInactive':
      case 'AdReturned':
      case 'AdRevised':
        claims.push(event);
        break;
      case 'AdsMissed':
        missed.push(...event.data.ad_ids);
        break;
      case 'AdsSeen':
        seen.push(...event.data.ad_ids);
        break;
      case 'AdDetailsObserved':
      case 'AdObservationCorrected':
        expect(world.has(event.data.ad_id), `${event.type} of ${event.data.ad_id}, ${where}`).toBe(true);
        break;
      case 'AdsStillInactive':
        if (event.data.kind === 'absent') break;
        for (const id of event.data.ad_ids) expect(world.get(id)?.isRunning, `${id}, ${where}`).toBe(false);
        break;
      default:
        throw new Error(`${event.type} of ${where} was not expected.`);
    }
  }
  return { end, world, claims, missed, seen, where };
};

const addClaim = (
  { ads, withoutEnded }: Library,
  { end: { complete: isComplete }, world, where: scan }: Scan,
  { type, data }: Claim,
): void => {
  const where = `${type} of ${data.ad_id}, ${scan}`;
  const ad = ads.get(data.ad_id);
  const now = world.get(data.ad_id);
  if (now === undefined) throw new Error(`${where}: the library does not show this ad.`);
  if (type === 'AdStarted') {
    expect(ad, where).toBeUndefined();
    const { page_id, started_on, content } = data;
    const text = { body: content.body, title: content.title };
    expect({ pageId: page_id, startedOn: started_on, text }, where).toEqual({
      pageId: now.pageId,
      startedOn: now.startedOn,
      text: now.text,
    });
    // An ad that has ended before its first sighting ends in the same scan.
    ads.set(data.ad_id, { pageId: now.pageId, text, isRunning: true, startedIn: data.scan_id });
    return;
  }
  if (ad === undefined) throw new Error(`${where}: the ad has not started.`);
  switch (type) {
    case 'AdConfirmedInactive':
      expect(ad.isRunning, where).toBe(true);
      expect(now.isRunning, where).toBe(false);
      // Without the list of ended ads, two absences end an ad, and its date is not known.
      if (data.basis === 'absence') {
        expect(withoutEnded, where).toContain(scan);
        expect(isComplete, `complete scan, ${where}`).toBe(true);
      }
      expect(data.stopped_on, where).toBe(data.basis === 'library' ? now.stoppedOn : null);
      expect(data.observed_running, where).toBe(ad.startedIn !== data.scan_id);
      ads.set(data.ad_id, { ...ad, isRunning: false });
      break;
    case 'AdReturned':
      expect(ad.isRunning, where).toBe(false);
      expect(now.isRunning, where).toBe(true);
      ads.set(data.ad_id, { ...ad, isRunning: true });
      break;
    case 'AdRevised': {
      expect(now.text, where).not.toEqual(ad.text);
      const { body, title } = data.changes;
      const text = {
        body: body === undefined ? ad.text.body : body.to,
        title: title === undefined ? ad.text.title : title.to,
      };
      expect(text, where).toEqual(now.text);
      ads.set(data.ad_id, { ...ad, text });
      break;
    }
  }
};

/** Requires that the pages of a scan are all pages of the brand, but for those that the library refused by then. */
const checkCoverage = ({ ownPageIds, faults }: Library, { end, where }: Scan): void => {
  const on = utcDate(end.observed_at);
  const covered = end.pages.map(({ page_id }) => page_id);
  expect(ownPageIds, where).toEqual(expect.arrayContaining(covered));
  const left = ownPageIds.filter((id) => !covered.includes(id));
  expect(
    left.filter((id) => !isRefused(faults, id, on)),
    `pages left out, ${where}`,
  ).toEqual([]);
  const refusedToday = faults.filter(({ name, on: day }) => name === 'refused page' && day === on);
  if (!end.complete) return;
  for (const { pageId } of refusedToday) expect(covered, `refused page, ${where}`).not.toContain(pageId);
};

/** Requires that a scan says nothing about pages that it did not cover, and nothing false about others. */
const checkClaims = (library: Library, scan: Scan): void => {
  const { end, world, claims, missed, seen, where } = scan;
  const covered = new Set(end.pages.map(({ page_id }) => page_id));
  for (const claim of claims) addClaim(library, scan, claim);
  for (const id of [...claims.map(({ data }) => data.ad_id), ...missed, ...seen]) {
    expect(covered, `page of ad ${id}, ${where}`).toContain(library.ads.get(id)?.pageId);
  }
  for (const { data } of claims) {
    const ad = library.ads.get(data.ad_id);
    const now = world.get(data.ad_id);
    expect([ad?.isRunning, ad?.text], `ad ${data.ad_id}, ${where}`).toEqual([now?.isRunning, now?.text]);
  }
  for (const id of seen) expect(world.get(id)?.isRunning, `ad ${id} seen, ${where}`).toBe(true);
  if (!end.complete) expect(missed, where).toEqual([]);
};

const runningOn = (
  ads: ReadonlyMap<string, Pick<ShownAd, 'pageId' | 'isRunning' | 'text'>>,
  pageId: string,
): Readonly<Record<string, AdText>> =>
  Object.fromEntries(
    [...ads].flatMap(([id, ad]) => (ad.pageId === pageId && ad.isRunning ? [[id, ad.text]] : [])),
  );

/** Requires that ads which ended since the last complete scan are known, even unseen ones. Faults may hide them. */
const checkEnded = (
  { ads, faults, scannedOn }: Library,
  { end, world, where }: Scan,
  pageId: string,
): void => {
  const since = scannedOn.get(pageId);
  scannedOn.set(pageId, utcDate(end.observed_at));
  if (since === undefined || faults.length > 0) return;
  const ended = [...world].filter(
    ([, ad]) => ad.pageId === pageId && ad.stoppedOn !== null && ad.stoppedOn >= since,
  );
  const unknown = ended.map(([id]) => id).filter((id) => !ads.has(id));
  expect(unknown, `ads of page ${pageId} that ended since ${since}, ${where}`).toEqual([]);
};

/**
 * After a complete scan exactly the ads of the world run, with their texts. Ended ads stay unknown where the scan could
 * not read them. Nothing may be claimed about a page that the library forgets for longer than the collector doubts it.
 */
const checkPage = (library: Library, scan: Scan, pageId: string): void => {
  const { ads, missing, shown, faults, withoutEnded } = library;
  const { end, world, claims, missed, where } = scan;
  const ofPage = (id: string): boolean => ads.get(id)?.pageId === pageId;
  if (isForgotten(faults, pageId, utcDate(end.observed_at), shown.get(pageId) ?? 0)) {
    const claimed = claims.filter(({ data }) => ofPage(data.ad_id)).map(({ type }) => type);
    expect(claimed, `forgotten page ${pageId}, ${where}`).toEqual([]);
    shown.set(pageId, 0);
    return;
  }
  const running = runningOn(world, pageId);
  const missedHere = missed.filter(ofPage);
  if (withoutEnded.has(where)) for (const id of missedHere) missing.add(id);
  else for (const id of [...missing].filter(ofPage)) missing.delete(id);
  expect(
    missedHere.filter((id) => !missing.has(id)),
    `missed on page ${pageId}, ${where}`,
  ).toEqual([]);
  const known = Object.entries(runningOn(ads, pageId)).filter(([id]) => !missing.has(id));
  expect(Object.fromEntries(known), `page ${pageId}, ${where}`).toEqual(running);
  shown.set(pageId, Object.keys(running).length);
  checkEnded(library, scan, pageId);
};

/** Requires that the totals count the ads of pages that were not covered as last seen, and when the day is reliable. */
const checkEnd = ({ ads, ownPageIds, coveredOn }: Library, { end, where }: Scan): void => {
  const on = utcDate(end.observed_at);
  const covered = coveredOn.get(on) ?? new Set();
  coveredOn.set(on, covered);
  if (end.complete) for (const { page_id } of end.pages) covered.add(page_id);
  const isReliable = end.complete && ownPageIds.every((id) => covered.has(id));
  expect(end.reliable, `reliable, ${where}`).toBe(isReliable);
  expect(end.late_arrival, where).toBe(false);
  const running = [...ads.values()].filter(({ isRunning }) => isRunning).length;
  expect([end.totals.active, end.totals.total], `totals, ${where}`).toEqual([running, ads.size]);
};

export type Checked = {
  readonly completeScans: number;
  readonly partialScans: number;
  readonly claims: number;
  readonly unseen: number;
};

/**
 * Each event must be true of the world at its time and change what was known; uncovered pages have none. `faults`:
 * those of the days. `withoutEnded`: keys of scans that could not read ended ads.
 */
export const checkLibrary = async (
  weeks: Weeks,
  eventStore: EventStore,
  brand: PlayedBrand,
  { faults, withoutEnded }: Pick<Library, 'faults' | 'withoutEnded'>,
): Promise<Checked> => {
  const checked = { completeScans: 0, partialScans: 0, claims: 0, unseen: 0 };
  const library: Library = {
    domain: brand.brand.domain,
    ownPageIds: brand.pages.map(({ id }) => id),
    faults,
    withoutEnded,
    ads: new Map(),
    missing: new Set(),
    shown: new Map(),
    scannedOn: new Map(),
    coveredOn: new Map(),
  };
  let waiting: AdLibraryEvent[] = [];
  for (const event of await readEvents(eventStore, brand)) {
    if (event.type !== 'ScanRecorded') {
      waiting.push(event);
      continue;
    }
    const scan = scanOf(weeks, brand, waiting, event.data);
    waiting = [];
    checkCoverage(library, scan);
    checkClaims(library, scan);
    if (event.data.complete) for (const { page_id } of event.data.pages) checkPage(library, scan, page_id);
    checkEnd(library, scan);
    checked.claims += scan.claims.length;
    checked.unseen += scan.claims.filter(
      ({ type, data }) => type === 'AdConfirmedInactive' && !data.observed_running,
    ).length;
    if (event.data.complete) checked.completeScans += 1;
    else checked.partialScans += 1;
  }
  expect(waiting, `events of ${library.domain} without the end of their scan`).toEqual([]);
  return checked;
};
