import { mergeHeldBack } from '#application/delivery-outbox/merging/merge-held-back.ts';
import type { MatchingSession } from './dependencies.ts';

/** Messages of one call; new events do not wait for more. */
const MESSAGES_MAX = 20;

/** Sends one message per rule of which few deliveries wait now. */
export const sendHeldBack = async ({ database, settings }: MatchingSession): Promise<void> => {
  for (let messages = 0; messages < MESSAGES_MAX; messages += 1) {
    const now = settings.clock.now();
    const { queued, isMore } = await mergeHeldBack(database, { baseUrl: settings.baseUrl, now });
    if (queued.length > 0) settings.publish(queued);
    if (!isMore) return;
  }
};
