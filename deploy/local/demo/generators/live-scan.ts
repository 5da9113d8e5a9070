import type {
  AdLibraryScanChunk,
  AdLibraryScanEnd,
  ObservedAd,
} from '#contracts/observations/ad-library-scan.ts';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import { scanIdOf } from '#domain/ids.ts';
import { type Pulse, type PulseAd, pulseAdsAt } from '../world/pulse.ts';
import type { DemoBrand, DemoPage, World } from '../world/world.ts';
import { adIdOf, type Collector, contentOn, datedMedia } from './ad-content.ts';
import { partnerOf } from './partners.ts';
import type { Life } from './ad-lifecycle.ts';
import { chunksOf, collectorOn, linkedPages, observe, shownAds } from './scans.ts';

/**
 * Ads of the corpus on that day and of the pulse. Depends on its arguments only, so a repeated scan has the same ids
 * and content. `firstDayMs` is midnight (UTC).
 */
export function* liveScanOf(
  world: World,
  pulse: Pulse,
  brand: DemoBrand,
  firstDayMs: number,
  timeMs: number,
): Generator<AdLibraryScanChunk | AdLibraryScanEnd> {
  const day = Math.floor((timeMs - firstDayMs) / DAY_MS);
  const dayMs = firstDayMs + day * DAY_MS;
  const pages = linkedPages(world, brand, day);
  const collector = collectorOn(brand, day);
  const scanned_at = new Date(timeMs).toISOString();
  const key = {
    // Named after the pulse too, because a scan of the same time has other ads with another pulse.
    scan_id: scanIdOf(brand.domain, scanned_at, `demo live ${world.seed} ${pulse.everyMs} ${pulse.fromMs}`),
    brand_domain: brand.domain,
    scanned_at,
  };
  const ads = function* (): Generator<ObservedAd> {
    for (const { page, life } of shownAds(world, pages, day, 1)) {
      yield observe(world, page, life, { day, dayMs, collector, blank: false });
    }
    // The first page of a brand is its official one, which stays linked.
    const [official] = pages;
    if (official === undefined) return;
    for (const ad of pulseAdsAt(pulse, timeMs)) {
      if (ad.brand === brand.index)
        yield observePulse(world, official, ad, { firstDayMs, timeMs, collector });
    }
  };
  yield* chunksOf(key, ads(), {
    pages: pages.map(({ id, name }) => ({ page_id: id, page_name: name })),
    countries: ['US'],
    complete: true,
    collector,
  });
}

type LiveView = { readonly firstDayMs: number; readonly timeMs: number; readonly collector: Collector };

const observePulse = (
  world: World,
  page: DemoPage,
  ad: PulseAd,
  { firstDayMs, timeMs, collector }: LiveView,
): ObservedAd => {
  const dayOf = (ms: number): number => Math.floor((ms - firstDayMs) / DAY_MS);
  const running = timeMs < ad.endsMs;
  const day = dayOf(timeMs);
  const life: Life = {
    ad: ad.ad,
    brand: ad.brand,
    started: dayOf(ad.startsMs),
    visibleFrom: dayOf(ad.startsMs),
    stopped: dayOf(ad.endsMs),
    flagged: true,
    returns: null,
    linkChanges: ad.linkChangesMs !== null && timeMs >= ad.linkChangesMs ? day : null,
    copyChanges: null,
  };
  const content = contentOn(world, page, life, day, collector);
  return {
    ad_id: adIdOf(world.seed, ad.ad),
    page_id: page.id,
    page_name: page.name,
    // The API reports a stop date and no active flag.
    is_active: collector === 'demo-api/1' ? null : running,
    started_on: utcDateOfMs(ad.startsMs),
    stopped_on: running ? null : utcDateOfMs(ad.endsMs),
    ...content,
    media: datedMedia(content.media, firstDayMs + day * DAY_MS),
    ...partnerOf(world, page, life, collector),
  };
};
