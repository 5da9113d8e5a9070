import { SCRAPE_REQUESTED, type ScrapeRequested } from '#contracts/messages/subjects.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { type Clock, pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { listDue } from '#projections/freshness/read.ts';

/** How often the loop looks, and how long it waits before it asks again for a brand that is still due. */
const LOOK_EVERY_MS = 60_000;
const ASK_AGAIN_MS = 6 * 3_600_000;
/** Brands asked for at one look; the rest is still due at the next. */
const BRANDS_PER_LOOK_MAX = 1_000;

export type ScanRequests = {
  readonly db: ReadDatabase;
  readonly nats: Nats;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

/**
 * The cadence loop: asks collectors for a scan of every tracked brand whose next one is due. What it asked for
 * is remembered here only; after a restart it may ask once more, which the message's id makes one request.
 */
export const requestScansWhenDue = async ({ db, nats, clock, log, signal }: ScanRequests): Promise<void> => {
  const askedAt = new Map<string, number>();
  while (!signal.aborted) {
    try {
      const now = clock.now();
      const due = await listDue(db, now.toISOString(), BRANDS_PER_LOOK_MAX);
      const waiting = new Set(due.map(({ brand_id }) => brand_id));
      for (const brandId of askedAt.keys()) if (!waiting.has(brandId)) askedAt.delete(brandId);
      let asked = 0;
      for (const { brand_id, cadence } of due) {
        if (now.getTime() - (askedAt.get(brand_id) ?? 0) < ASK_AGAIN_MS) continue;
        const request: ScrapeRequested = { brand_id, cadence, requested_at: now.toISOString() };
        const slot = Math.floor(now.getTime() / ASK_AGAIN_MS);
        await nats.jetstream.publish(SCRAPE_REQUESTED, JSON.stringify(request), {
          msgID: `due-${brand_id}-${slot}`,
        });
        askedAt.set(brand_id, now.getTime());
        asked += 1;
      }
      if (asked > 0) log.info({ brands: asked }, 'scans asked for');
    } catch (error) {
      log.warn({ reason: (error as Error).message }, 'could not ask for due scans; trying again');
    }
    await pause(LOOK_EVERY_MS, signal);
  }
};
