import { mergeHeldBack } from '#application/delivery-outbox/merging/merge-held-back.ts';
import type { MatchingSession } from './dependencies.ts';

/** Maximum messages of one call. New events do not wait for more. */
const MESSAGES_MAX = 20;

/** Queues the alerts that were held back of rules of which few deliveries wait now, as one message of each rule. */
export const sendHeldBack = async ({ database, settings }: MatchingSession): Promise<void> => {
  for (let messages = 0; messages < MESSAGES_MAX; messages += 1) {
    const now = settings.clock.now();
    const { queued, isMore } = await mergeHeldBack(database, { baseUrl: settings.baseUrl, now });
    if (queued.length > 0) settings.publish(queued);
    if (!isMore) return;
  }
};
