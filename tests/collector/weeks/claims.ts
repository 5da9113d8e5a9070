import { expect } from 'vitest';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandIdOf } from '#domain/ids.ts';
import { catalogueOn, shopsOf } from '#deploy/local/demo/generators/storefronts.ts';
import { dayAt } from '#deploy/local/world/library-ads.ts';
import type { Observation } from '#contracts/observations/index.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import type { Scan } from '../collector-stack.ts';
import { adsAt, type PlayedBrand, type Weeks } from './played-weeks.ts';

/** Claims of the service about ads in one period, by ad id. */
type Claims = { started: string[]; stopped: string[]; returned: string[]; changed: string[] };

const emptyClaims = (): Claims => ({ started: [], stopped: [], returned: [], changed: [] });
const sorted = ({ started, stopped, returned, changed }: Claims): Claims => ({
  started: started.toSorted(),
  stopped: stopped.toSorted(),
  returned: returned.toSorted(),
  changed: changed.toSorted(),
});

const readEvents = async (eventStore: EventStore, brand: PlayedBrand): Promise<readonly AdLibraryEvent[]> => {
  const events: AdLibraryEvent[] = [];
  const stream = adLibraryStream(brandIdOf(brand.brand.domain));
  for await (const event of eventStore.read<AdLibraryEvent>(stream)) events.push(event);
  return events;
};

/** Adds what an event claims. An ad that was seen only after its end neither starts nor stops in the period. */
const addClaim = (claims: Claims, event: AdLibraryEvent, running: ReadonlySet<string>): void => {
  switch (event.type) {
    case 'AdStarted':
      if (running.has(event.data.ad_id)) claims.started.push(event.data.ad_id);
      break;
    case 'AdConfirmedInactive':
      if (event.data.observed_running !== false) claims.stopped.push(event.data.ad_id);
      break;
    case 'AdReturned':
      claims.returned.push(event.data.ad_id);
      break;
    case 'AdRevised':
      claims.changed.push(event.data.ad_id);
      break;
    case 'AdDetailsObserved':
    case 'AdDestinationChanged':
    case 'AdsMissed':
    case 'AdsSeen':
    case 'AdsStillInactive':
    case 'AdsReworded':
    case 'ScanRecorded':
    case 'AdObservationCorrected':
    case 'AdAttributed':
    case 'ScanCorrected':
      break;
  }
};

/** Requires that each event is true of the world at the time of its scan. */
const requireTrue = (weeks: Weeks, brand: PlayedBrand, event: AdLibraryEvent): void => {
  if (!('ad_id' in event.data)) return;
  const ad = adsAt(weeks, brand, Date.parse(event.data.observed_at)).get(event.data.ad_id);
  const where = `${event.type} of ${event.data.ad_id} at ${event.data.observed_at}`;
  expect(ad, where).toBeDefined();
  switch (event.type) {
    case 'AdConfirmedInactive':
      expect(ad?.isRunning, where).toBe(false);
      expect(event.data.basis, where).toBe('library');
      expect(event.data.stopped_on, where).toBe(ad?.stoppedOn);
      break;
    case 'AdReturned':
      expect(ad?.isRunning, where).toBe(true);
      break;
    case 'AdStarted':
    case 'AdRevised':
    case 'AdDetailsObserved':
    case 'AdDestinationChanged':
    case 'AdObservationCorrected':
      break;
    default:
      throw new Error(`${where} was not expected.`);
  }
};

/** Returns what changed in the world between two times, of ads that were `known` before. */
const changesBetween = (
  weeks: Weeks,
  brand: PlayedBrand,
  fromMs: number | null,
  toMs: number,
  known: ReadonlySet<string>,
): Claims => {
  const before = fromMs === null ? null : adsAt(weeks, brand, fromMs);
  const claims = emptyClaims();
  for (const [id, now] of adsAt(weeks, brand, toMs)) {
    const then = before?.get(id);
    if (now.isRunning && !known.has(id)) claims.started.push(id);
    else if (now.isRunning && then?.isRunning === false) claims.returned.push(id);
    else if (!now.isRunning && then?.isRunning === true) claims.stopped.push(id);
    else if (now.isRunning && then?.isRunning === true && now.text !== then.text) claims.changed.push(id);
  }
  return sorted(claims);
};

/**
 * Returns what claims of several scans amount to. A partial scan between two complete ones may show an ad that starts and
 * ends between them: each claim is true at its time, and together they change nothing.
 */
const netOf = ({ started, stopped, returned, changed }: Claims): Claims => {
  const [begun, ended, back] = [new Set(started), new Set(stopped), new Set(returned)];
  const undone = new Set([...ended].filter((id) => begun.has(id) || back.has(id)));
  const left = (ids: ReadonlySet<string>): string[] => [...ids].filter((id) => !undone.has(id));
  return sorted({
    started: left(begun),
    stopped: left(ended),
    returned: left(back),
    changed: [...new Set(changed)].filter((id) => !begun.has(id) && !ended.has(id) && !back.has(id)),
  });
};

export type Checked = {
  readonly completeScans: number;
  readonly partialScans: number;
  readonly claims: number;
};

/**
 * Requires that the events about a brand are the changes of the world: exactly those between one complete scan and the
 * next, and each true at its time, also where a scan was partial.
 */
export const checkLibrary = async (
  weeks: Weeks,
  eventStore: EventStore,
  brand: PlayedBrand,
): Promise<Checked> => {
  const events = await readEvents(eventStore, brand);
  const checked = { completeScans: 0, partialScans: 0, claims: 0 };
  const known = new Set<string>();
  let fromMs: number | null = null;
  let claims = emptyClaims();
  let waiting: AdLibraryEvent[] = [];
  const seen = new Set<string>();
  let wasPartial = false;
  for (const event of events) {
    requireTrue(weeks, brand, event);
    if (event.type !== 'ScanRecorded') {
      waiting.push(event);
      continue;
    }
    const { complete, observed_at, totals } = event.data;
    const atMs = Date.parse(observed_at);
    const world = adsAt(weeks, brand, atMs);
    const running = new Set([...world].filter(([, ad]) => ad.isRunning).map(([id]) => id));
    for (const one of waiting) addClaim(claims, one, running);
    for (const one of waiting) if (one.type === 'AdStarted') seen.add(one.data.ad_id);
    waiting = [];
    if (!complete) {
      checked.partialScans += 1;
      wasPartial = true;
      continue;
    }
    const expected = changesBetween(weeks, brand, fromMs, atMs, known);
    expect(wasPartial ? netOf(claims) : sorted(claims), `${brand.brand.domain} at ${observed_at}`).toEqual(
      expected,
    );
    expect(totals.active, `active ads of ${brand.brand.domain} at ${observed_at}`).toBe(running.size);
    checked.completeScans += 1;
    checked.claims += Object.values(claims).flat().length;
    for (const id of seen) known.add(id);
    fromMs = atMs;
    wasPartial = false;
    claims = emptyClaims();
  }
  return checked;
};

/** Returns the scans of shops by domain, oldest first. */
export const shopScans = (observations: readonly Observation[]): ReadonlyMap<string, readonly Scan[]> => {
  const pages = Map.groupBy(
    observations.filter((one) => one.type === 'storefront.scan'),
    ({ scan_id }) => scan_id,
  );
  const scans = observations
    .filter((one) => one.type === 'storefront.scan_end')
    .map((end) => ({ end, products: (pages.get(end.scan_id) ?? []).flatMap(({ products }) => products) }));
  return Map.groupBy(scans, ({ end }) => end.domain);
};

/** Requires that complete scans of a shop show the catalogue of the day, and partial ones nothing else. */
export const checkShop = ({ placed }: Weeks, brand: PlayedBrand, scans: readonly Scan[]): Checked => {
  const checked = { completeScans: 0, partialScans: 0, claims: 0 };
  const hasShop = shopsOf(placed.world).includes(brand.brand);
  for (const { end, products } of scans) {
    expect(hasShop, `${brand.brand.domain} has a shop`).toBe(true);
    const day = dayAt(placed, Date.parse(end.scanned_at));
    const listed = catalogueOn(placed.world, brand.brand, day);
    const priceOf = (list: typeof products): ReadonlyMap<string, string> =>
      new Map(list.map(({ id, variants }) => [id, JSON.stringify(variants.map(({ price }) => price))]));
    const world = priceOf(listed);
    const shown = priceOf(products);
    const where = `${brand.brand.domain} at ${end.scanned_at}`;
    for (const [id, prices] of shown) expect(world.get(id), where).toBe(prices);
    if (end.complete) expect([...shown.keys()].toSorted(), where).toEqual([...world.keys()].toSorted());
    if (end.complete) checked.completeScans += 1;
    else checked.partialScans += 1;
    checked.claims += shown.size;
  }
  return checked;
};
