import type { JetStreamClient } from 'nats';
import { SCRAPE_REQUESTED, type ScrapeRequested } from '#contracts/messages/subjects.ts';
import type { Log } from '#platform/log.ts';
import { type Nats, tracedHeaders } from '#platform/nats.ts';

/** A publish is given up after this time; the cadence loop asks again for what was not handed off. */
const PUBLISH_TIMEOUT_MS = 2_000;

export type ScrapeHandOff = {
  /** Asks collectors for a scan. Never rejects. `factId` makes the same request one message. */
  request(scrape: ScrapeRequested, factId: string): Promise<void>;
};

/** `nats` may still be connecting; the API serves without it. */
export const createScrapeHandOff = (nats: Promise<Nats>, log: Log): ScrapeHandOff => {
  let jetstream: JetStreamClient | undefined;
  const connect = async (): Promise<void> => {
    ({ jetstream } = await nats);
  };
  connect().catch(() => undefined);
  return {
    request: async (scrape, factId) => {
      try {
        if (!jetstream) throw new Error('not connected to NATS');
        await jetstream.publish(SCRAPE_REQUESTED, JSON.stringify(scrape), {
          msgID: factId,
          ...tracedHeaders(),
          timeout: PUBLISH_TIMEOUT_MS,
        });
      } catch (error) {
        log.warn(
          { err: error, brand_id: scrape.brand_id },
          'scrape hand-off failed; the cadence loop will ask again',
        );
      }
    },
  };
};
