import type { FastifyReply } from 'fastify';
import { Refusal } from '#contracts/errors.ts';

/**
 * Maximum report and media files that one process serves at the same time, from the arrival of the request to the last byte.
 * The client of the object store has as many sockets (`platform/object-store/s3-object-store.ts`).
 */
export const FILES_IN_FLIGHT_MAX = 256;
/** Maximum of these files that wait for the object store to answer. The others are being sent. */
export const FILES_WAITING_MAX = 128;
/** Seconds after which a refused caller may try again. */
const RETRY_AFTER_SECONDS = 1;

const refusal = (what: string): Refusal =>
  new Refusal(
    'overloaded',
    `Too many files are being ${what}. Try again in ${RETRY_AFTER_SECONDS} s.`,
    [],
    RETRY_AFTER_SECONDS,
  );

/** Bounds the files that are opened and sent, which no API key limits. */
export type FilePlaces = {
  /**
   * Opens a file for a reply. The place is held until the connection of the reply is done with it. Throws `Refusal` when too
   * many files are opened or sent.
   */
  open<T>(reply: FastifyReply, open: () => Promise<T>): Promise<T>;
};

export const createFilePlaces = (): FilePlaces => {
  let inFlight = 0;
  let waiting = 0;
  return {
    open: async (reply, open) => {
      if (inFlight >= FILES_IN_FLIGHT_MAX) throw refusal('sent');
      if (waiting >= FILES_WAITING_MAX) throw refusal('opened');
      // The client may have left already.
      if (!reply.raw.closed) {
        inFlight += 1;
        reply.raw.once('close', () => {
          inFlight -= 1;
        });
      }
      waiting += 1;
      try {
        return await open();
      } finally {
        waiting -= 1;
      }
    },
  };
};
