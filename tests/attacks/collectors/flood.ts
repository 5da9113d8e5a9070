import { parentPort, workerData } from 'node:worker_threads';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject } from '#contracts/messages/subjects.ts';
import type { AdLibraryScanChunk } from '#contracts/observations/ad-library-scan.ts';
import { CHUNK_ADS_MAX } from '#contracts/observations/ad-library-scan.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { scanIdOf } from '#domain/ids.ts';
import { pause } from '#platform/clock.ts';
import { publishObservation } from '#platform/nats/claim-check.ts';
import { ad } from '#tests/dsl/scans.ts';
import { openRawNats } from './raw-nats.ts';

/**
 * Runs in a thread. At full speed, 400 MB a second, copying would take both processors of a small machine, so the
 * flood keeps to a gigabit line. Posts `ready`, publishes as many as a message says or until the message 0, then posts
 * the number published.
 */

const { natsUrl, brands } = workerData as { readonly natsUrl: string; readonly brands: number };
/** Bytes a second of a gigabit line, without its frames. */
const LINE_BYTES = 118_000_000;
const AT_ONCE = 8;
const OTHER_BYTES = 130_000;
const BODY = 'a'.repeat(Math.floor((OBSERVATION_MAX_BYTES - OTHER_BYTES) / CHUNK_ADS_MAX));

/** Ads of all chunks, encoded once: the flood must cost the machine little. */
const ADS = JSON.stringify(
  Array.from({ length: CHUNK_ADS_MAX }, (_, index) =>
    ad(`8${String(index).padStart(4, '0')}`, { body: BODY, link_url: 'https://flood.example/' }),
  ),
);

const chunkOf = (place: number): AdLibraryScanChunk => {
  // All chunks have the same length.
  const brand_domain = `flood-${String(place % brands).padStart(4, '0')}.example`;
  const scanned_at = '2026-05-02T10:00:00.000Z';
  const scan_id = scanIdOf(brand_domain, scanned_at, `flood ${place}`);
  return { type: 'ad_library.scan', scan_id, brand_domain, scanned_at, chunk: 0, ads: [] };
};
/** Start of a chunk without its ads, which come last. */
const startOf = (chunk: AdLibraryScanChunk): string => JSON.stringify(chunk).replace(/\]\}$/, '');
const END = `${ADS.slice(1)}}`;

const nats = await openRawNats(natsUrl);
let published = 0;

const publishAtMost = async (most: number, signal: AbortSignal): Promise<number> => {
  const from = published;
  const since = performance.now();
  /** Waits until the line has carried what was published. */
  const lineIsFree = async (): Promise<void> => {
    const carriedMs = (((published - from) * OBSERVATION_MAX_BYTES) / LINE_BYTES) * 1_000;
    await pause(Math.max(0, since + carriedMs - performance.now()), signal);
  };
  const publish = async (): Promise<void> => {
    /** The body of one chunk after the other: only its beginning differs. */
    const body = Buffer.from(`${startOf(chunkOf(0))}${END}`);
    while (!signal.aborted && published - from < most) {
      const observation = chunkOf(published);
      published += 1;
      body.write(startOf(observation));
      await lineIsFree();
      await publishObservation(nats, {
        subject: observationSubject(observation.brand_domain),
        data: body,
        headers: routingHeadersOf(observation),
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, publish));
  return published - from;
};

const serve = async (most: number, signal: AbortSignal): Promise<void> => {
  const count = await publishAtMost(most, signal);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker thread has none
  parentPort?.postMessage(count);
};

let stopping = new AbortController();
parentPort?.on('message', (most: number) => {
  stopping.abort();
  if (most === 0) return;
  stopping = new AbortController();
  void serve(most, stopping.signal);
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker thread has none
parentPort?.postMessage('ready');
