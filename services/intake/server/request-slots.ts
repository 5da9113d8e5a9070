import { IntakeRefusal } from './refusal.ts';

/** A slow client occupies slots of its own key only. */
const SLOTS_PER_KEY = 4;
/** Bounds the memory: each request may hold 16 MiB as received, 16 MiB unpacked, and its parsed lines. */
const SLOTS = 8;
const RETRY_SECONDS = 1;

export type RequestSlots = {
  /** Throws `rate_limited` or `unavailable` at once when no slot is free: a queued body would wait unread. */
  run<T>(keyId: string, work: () => Promise<T>): Promise<T>;
};

export const createRequestSlots = (): RequestSlots => {
  const usedByKey = new Map<string, number>();
  let used = 0;
  return {
    run: async (keyId, work) => {
      const own = usedByKey.get(keyId) ?? 0;
      if (own >= SLOTS_PER_KEY) {
        throw new IntakeRefusal(
          'rate_limited',
          `${SLOTS_PER_KEY} requests of this key are running. Send the next one when a reply has arrived.`,
          { retryAfterSeconds: RETRY_SECONDS },
        );
      }
      if (used >= SLOTS) {
        throw new IntakeRefusal('unavailable', 'The intake is busy. Send the request again.', {
          retryAfterSeconds: RETRY_SECONDS,
        });
      }
      used += 1;
      usedByKey.set(keyId, own + 1);
      try {
        return await work();
      } finally {
        used -= 1;
        const left = (usedByKey.get(keyId) ?? 1) - 1;
        if (left === 0) usedByKey.delete(keyId);
        else usedByKey.set(keyId, left);
      }
    },
  };
};
