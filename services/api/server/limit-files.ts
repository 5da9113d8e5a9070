import type { FastifyReply } from 'fastify';
import { Refusal } from '#contracts/errors.ts';

/** Downloads have no limit by API key. Equals the sockets of the object store's client (`s3-object-store.ts`). */
export const FILES_IN_FLIGHT_MAX = 256;
const RETRY_AFTER_SECONDS = 1;

/** Counts a file until its reply is closed. Throws `Refusal` when too many files are sent. */
export type LimitFiles = (reply: FastifyReply) => void;

export const createFileLimit = (): LimitFiles => {
  let inFlight = 0;
  return (reply) => {
    if (inFlight >= FILES_IN_FLIGHT_MAX)
      throw new Refusal(
        'overloaded',
        `Too many files are being sent. Try again in ${RETRY_AFTER_SECONDS} s.`,
        [],
        RETRY_AFTER_SECONDS,
      );
    // The client may have left already.
    if (reply.raw.closed) return;
    inFlight += 1;
    reply.raw.once('close', () => {
      inFlight -= 1;
    });
  };
};
