import { OBSERVATIONS_STREAM, observationSubject } from '#contracts/messages/subjects.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { PAGES, scanOfDay } from '../ingest/scans.ts';

/** Scans of brands, day after day of each, as collectors hand them in: over the queue, to a process of ingest. */
const BRANDS = 50;
const ADS = 40;
/** Of the ads of a scan, those that changed since the one before. */
const CHANGE = 0.4;
const EVERY_MS = 200;
const FIRST_AD_ID = 700_000_000_000_000;
const FIRST_PAGE_ID = 300_000_000;
const ADS_OF_BRAND_MAX = 1_000_000;
const POLL_MS = 50;

export interface Incoming {
  /** Publishes no more, and waits until all is taken in; answers how many scans that was. */
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
      const limit = performance.now() + limitMs;
      while ((await queue.manager.streams.info(OBSERVATIONS_STREAM)).state.messages > 0) {
        if (performance.now() > limit) throw new Error('What was published was not taken in in time.');
        await pause(POLL_MS);
      }
      return scans;
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function publish(nats: Nats, signal: AbortSignal): Promise<number> {
  const encoder = new TextEncoder();
  let scans = 0;
  for (; !signal.aborted; scans += 1) {
    const brand = scans % BRANDS;
    const domain = `late${brand}.example`;
    const firstAdId = FIRST_AD_ID + brand * ADS_OF_BRAND_MAX;
    const firstPageId = FIRST_PAGE_ID + brand * PAGES;
    const day = Math.floor(scans / BRANDS);
    const scan = scanOfDay(day, ADS, CHANGE, { domain, firstAdId, firstPageId });
    for (const message of [...scan.chunks, scan.end]) {
      await nats.jetstream.publish(observationSubject(domain), encoder.encode(JSON.stringify(message)));
    }
    await pause(EVERY_MS);
  }
  return scans;
}
