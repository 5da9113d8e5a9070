import { headers } from 'nats';
import { SCRAPE_REQUESTED, type ScrapeRequested } from '#contracts/messages/subjects.ts';
import type { Log } from '#platform/logger.ts';
import { type Nats, tracedHeaders } from '#platform/nats/connection.ts';

/** Two messages with the same are one. */
const MESSAGE_ID = 'Nats-Msg-Id';

export type ScrapeRequests = {
  /**
   * Asks collectors for a scan. Never throws, and waits for nothing: what the queue loses, the cadence loop asks for
   * again. `factId` makes the same request one message.
   */
  request(scrape: ScrapeRequested, eventId: string): void;
};

/** `nats` may still be connecting; the API serves without it. */
export const createScrapeRequests = (nats: Promise<Nats>, log: Log): ScrapeRequests => {
  let connected: Nats | undefined;
  const connect = async (): Promise<void> => {
    connected = await nats;
  };
  connect().catch(() => undefined);
  return {
    request: (scrape, eventId) => {
      try {
        if (!connected) throw new Error('not connected to NATS');
        const given = tracedHeaders().headers ?? headers();
        given.set(MESSAGE_ID, eventId);
        connected.connection.publish(SCRAPE_REQUESTED, JSON.stringify(scrape), { headers: given });
      } catch (error) {
        log.warn(
          { err: error, brand_id: scrape.brand_id },
          'scrape hand-off failed; the cadence loop will ask again',
        );
      }
    },
  };
};
