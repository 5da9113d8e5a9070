import { headers, type MsgHdrs } from 'nats';
import { SCRAPE_REQUESTED, type ScrapeRequested } from '#contracts/messages/subjects.ts';
import type { Log } from '#platform/logger.ts';
import { type Nats, tracedHeaders } from '#platform/nats/connection.ts';

/** NATS deduplicates messages with the same value of this header. */
const MESSAGE_ID = 'Nats-Msg-Id';

export type ScrapeRequests = {
  /** Never throws and does not wait: the cadence loop repeats a lost request. `eventId` deduplicates. */
  request(scrape: ScrapeRequested, eventId: string): void;
};

/** Until `nats` is connected, requests are logged and dropped. */
export const createScrapeRequests = (nats: Promise<Nats>, log: Log): ScrapeRequests => {
  let connected: Nats | undefined;
  const connect = async (): Promise<void> => {
    connected = await nats;
  };
  connect().catch(() => undefined);
  const publish = (scrape: ScrapeRequested, messageHeaders: MsgHdrs): void => {
    try {
      if (!connected) throw new Error('not connected to NATS');
      connected.connection.publish(SCRAPE_REQUESTED, JSON.stringify(scrape), { headers: messageHeaders });
    } catch (error) {
      log.warn(
        { err: error, brand_id: scrape.brand_id },
        'scrape request failed; the cadence loop will repeat it',
      );
    }
  };
  return {
    request: (scrape, eventId) => {
      const messageHeaders = tracedHeaders().headers ?? headers();
      messageHeaders.set(MESSAGE_ID, eventId);
      // The client sends each publication of another microtask in a write of its own; those of one iteration share one.
      setImmediate(publish, scrape, messageHeaders);
    },
  };
};
