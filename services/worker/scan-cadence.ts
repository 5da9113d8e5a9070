import { HOUR_MS } from '#contracts/values/time.ts';
import { SCRAPE_REQUESTED, type ScrapeRequested } from '#contracts/messages/subjects.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { listDue } from '#projections/freshness/read.ts';

/**
 * POLL_INTERVAL_MS: polling interval. REQUEST_AGAIN_MS: time until a scan is requested again for a brand that is still
 * due.
 */
const POLL_INTERVAL_MS = 60_000;
const REQUEST_AGAIN_MS = 6 * HOUR_MS;
/** Maximum brands requested per poll. The others are still due at the next poll. */
const BRANDS_PER_POLL_MAX = 1_000;

export type ScanRequests = {
  readonly db: ReadDatabase;
  readonly nats: Nats;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/**
 * Cadence loop: requests a scan of every tracked brand that is due. Requests are remembered only in memory. A
 * restart may repeat one, but the message id makes JetStream drop the duplicate.
 */
export const requestScansWhenDue = async ({ db, nats, clock, log, signal }: ScanRequests): Promise<void> => {
  const requestedAt = new Map<string, number>();
  while (!signal.aborted) {
    try {
      const now = clock.now();
      const due = await listDue(db, now.toISOString(), BRANDS_PER_POLL_MAX);
      const waiting = new Set(due.map(({ brand_id }) => brand_id));
      for (const brandId of requestedAt.keys()) if (!waiting.has(brandId)) requestedAt.delete(brandId);
      let requested = 0;
      for (const { brand_id, cadence } of due) {
        if (now.getTime() - (requestedAt.get(brand_id) ?? 0) < REQUEST_AGAIN_MS) continue;
        const request: ScrapeRequested = { brand_id, cadence, requested_at: now.toISOString() };
        const slot = Math.floor(now.getTime() / REQUEST_AGAIN_MS);
        await nats.jetstream.publish(SCRAPE_REQUESTED, JSON.stringify(request), {
          msgID: `due-${brand_id}-${slot}`,
        });
        requestedAt.set(brand_id, now.getTime());
        requested += 1;
      }
      if (requested > 0) log.info({ brands: requested }, 'scans requested');
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'scan requests failed; retrying');
    }
    await pause(POLL_INTERVAL_MS, signal);
  }
};
