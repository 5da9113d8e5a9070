import type {
  AdConfirmedInactive,
  AdLibraryEvent,
  AdReturned,
  AdStarted,
  ScanRecorded,
} from '#contracts/events/corpus/ad-library.ts';
import { adLibraryStream, excerptOfBody } from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { utcDate } from '#contracts/values/time.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { NO_TOTALS } from '#tests/dsl/ad-events.ts';
import { METADATA } from '../runner/bench.ts';

/** Start/stop brands write one table differently with neighbouring events. */
export type Workload = 'ordinary' | 'startStop';

const EVENTS_OF_SCAN = 50;
const SCAN_EVERY_MS = 3_600_000;
const FIRST_SCAN_MS = Date.UTC(2026, 0, 1);
const ORDINARY_STOPS_EVERY = 10;
const BODY = 'Warm boots for cold days: waterproof, light and made to last. Try them for 30 days.\n'.repeat(
  4,
);

type Scan = { readonly brand_id: string; readonly page_id: string; readonly number: number };

const timeOf = ({ number }: Scan): string => new Date(FIRST_SCAN_MS + number * SCAN_EVERY_MS).toISOString();

const aboutAd = (scan: Scan, ad_id: string) => ({
  brand_id: scan.brand_id,
  scan_id: derivedId('scan', `${scan.brand_id} ${scan.number}`),
  observed_at: timeOf(scan),
  ad_id,
  format: 'image' as const,
  countries: ['US'],
  started_on: utcDate(timeOf(scan)),
});

const excerptOf = ({ page_id }: Scan) => ({
  page_id,
  page_name: 'A page of boots',
  title: 'Boots for winter',
  body: excerptOfBody(BODY),
});

const started = (scan: Scan, ad_id: string): AdStarted => ({
  type: 'AdStarted',
  data: {
    ...aboutAd(scan, ad_id),
    page_id: scan.page_id,
    page_name: 'A page of boots',
    novelty: 'news',
    missing_since: null,
    collector: 'bench',
    content: {
      body: BODY,
      title: 'Boots for winter',
      link_description: 'Free shipping from 50 dollars',
      caption: 'shop.example',
      cta_type: 'SHOP_NOW',
      cta_text: 'Shop now',
      link_url: `https://shop.example/boots-${ad_id}`,
      format: 'image',
      platforms: ['facebook', 'instagram'],
      languages: ['en'],
      media: [{ kind: 'image', url: `https://cdn.example/${ad_id}.jpg`, poster_url: null }],
      cards: [],
      versions: [],
    },
  },
});

const stopped = (scan: Scan, ad_id: string): AdConfirmedInactive => ({
  type: 'AdConfirmedInactive',
  data: {
    ...aboutAd(scan, ad_id),
    excerpt: excerptOf(scan),
    basis: 'library',
    stopped_on: utcDate(timeOf(scan)),
    last_seen_at: timeOf({ ...scan, number: scan.number - 1 }),
    observed_running: true,
    news: true,
  },
});

const returned = (scan: Scan, ad_id: string): AdReturned => ({
  type: 'AdReturned',
  data: {
    ...aboutAd(scan, ad_id),
    excerpt: excerptOf(scan),
    inactive_since: timeOf({ ...scan, number: scan.number - 1 }),
  },
});

const scanEnd = (scan: Scan): ScanRecorded => {
  const { ad_id: _ad, format: _format, started_on: _start, ...sighting } = aboutAd(scan, '');
  return {
    type: 'ScanRecorded',
    data: {
      ...sighting,
      scanned_for: scan.brand_id,
      collector: 'bench',
      complete: true,
      pages: [{ page_id: scan.page_id, page_name: 'A page of boots', baseline: scan.number === 0 }],
      reliable: true,
      late_arrival: false,
      chronological: true,
      totals: { ...NO_TOTALS, seen: EVENTS_OF_SCAN, active: EVENTS_OF_SCAN, total: EVENTS_OF_SCAN },
    },
  };
};

const ordinaryChanges = (): ((scan: Scan, next: () => string) => AdLibraryEvent) => {
  const running: string[] = [];
  let count = 0;
  return (scan, next) => {
    count += 1;
    const stop = count % ORDINARY_STOPS_EVERY === 0 ? running.shift() : undefined;
    if (stop !== undefined) return stopped(scan, stop);
    const ad = next();
    running.push(ad);
    return started(scan, ad);
  };
};

const startStopChanges = (): ((scan: Scan, next: () => string) => AdLibraryEvent) => {
  const running: string[] = [];
  const ended: string[] = [];
  let count = 0;
  return (scan, next) => {
    count += 1;
    const stop = count % 3 === 2 ? running.shift() : undefined;
    if (stop !== undefined) {
      ended.push(stop);
      return stopped(scan, stop);
    }
    const back = count % 3 === 0 ? ended.shift() : undefined;
    if (back !== undefined) {
      running.push(back);
      return returned(scan, back);
    }
    const ad = next();
    running.push(ad);
    return started(scan, ad);
  };
};

export const eventsOfBrands = (workload: Workload, brands: number, eventsEach: number): RecordedEvent[] => {
  const histories = Array.from({ length: brands }, (_, index) => {
    const brand_id = brandIdOf(`${workload.toLowerCase()}${index}.example`);
    const change = workload === 'ordinary' ? ordinaryChanges() : startStopChanges();
    let ads = 0;
    const nextAd = (): string => String(900_000_000_000_000 + index * 1_000_000 + ads++);
    return { brand_id, page_id: String(100_000_000 + index), change, nextAd, revision: 0n };
  });
  const events: RecordedEvent[] = [];
  for (let number = 0; number < eventsEach / EVENTS_OF_SCAN; number += 1) {
    for (const history of histories) {
      const scan = { brand_id: history.brand_id, page_id: history.page_id, number };
      const ofScan: AdLibraryEvent[] = Array.from({ length: EVENTS_OF_SCAN - 1 }, () =>
        history.change(scan, history.nextAd),
      );
      for (const event of [...ofScan, scanEnd(scan)]) {
        const position = BigInt(events.length + 1) * 1_000n;
        events.push({
          ...event,
          stream: adLibraryStream(history.brand_id),
          revision: history.revision,
          position,
          recordedAt: new Date(0),
          id: derivedId('bench event', `${workload} ${position}`),
          metadata: METADATA,
        });
        history.revision += 1n;
      }
    }
  }
  return events;
};
