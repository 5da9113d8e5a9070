import { publishObservations } from '#application/observations/publish-observations.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { untilIngested } from '../ingest.ts';
import { PAGES, scanOfDay } from '../ingest/scans.ts';

/** Scans come over the queue, as from collectors. */
const BRANDS = 50;
const ADS = 40;
const CHANGE = 0.4;
const EVERY_MS = 200;
const FIRST_AD_ID = 700_000_000_000_000;
const FIRST_PAGE_ID = 300_000_000;
const ADS_OF_BRAND_MAX = 1_000_000;

export interface Incoming {
  /** Returns the number of scans, when all are ingested. */
  stop(limitMs: number): Promise<number>;
}

export async function openIncoming(natsUrl: string): Promise<Incoming> {
  const nats = await openNats(natsUrl, 'bench');
  const ending = new AbortController();
  const published = publish(nats, ending.signal);
  return {
    stop: async (limitMs) => {
      ending.abort();
      await using queue = nats;
      const scans = await published;
      await untilIngested(queue, limitMs);
      return scans;
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function publish(nats: Nats, signal: AbortSignal): Promise<number> {
  let scans = 0;
  for (; !signal.aborted; scans += 1) {
    const brand = scans % BRANDS;
    const domain = `late${brand}.example`;
    const firstAdId = FIRST_AD_ID + brand * ADS_OF_BRAND_MAX;
    const firstPageId = FIRST_PAGE_ID + brand * PAGES;
    const day = Math.floor(scans / BRANDS);
    const scan = scanOfDay(day, ADS, CHANGE, { domain, firstAdId, firstPageId });
    await publishObservations(nats, [...scan.chunks, scan.end]);
    await pause(EVERY_MS);
  }
  return scans;
}
