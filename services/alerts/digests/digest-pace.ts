import { MINUTE_MS } from '#contracts/values/time.ts';
import type { Clock } from '#platform/clock.ts';

/** Milliseconds after the end of a period within which its digests are sent, however many there are. */
export const DIGEST_WAIT_MS = 15 * MINUTE_MS;
/**
 * Digests that are sent in a minute, so that alerts and receivers are not held up. There are more only where they would not all
 * be sent in time otherwise.
 */
const DIGESTS_PER_MINUTE = 3_000;

/** A page of digests that begins. */
export type BegunPage = {
  readonly digests: number;
  /** End of its period, in milliseconds since 1970. */
  readonly periodEndMs: number;
  /** Day by the log clock: all periods that ended before it are due. */
  readonly day: string;
};

/** Pauses between pages of digests, so that a period with many does not send all of them at once. */
export type DigestPace = {
  /** Returns the milliseconds until the next page may be sent. 0: now. */
  waitMs(): number;
  /**
   * Starts the pause after a page. Call it when the page begins, so that its own work counts as a part of the pause.
   * `countDue` counts the digests that are due, with those of the page. It is called once a day.
   */
  begin(page: BegunPage, countDue: () => Promise<number>): Promise<void>;
};

/**
 * Creates the pace of one session. Nothing of it is stored: the digests that are left are divided over the time that is left
 * of the spread. After a restart it ends in time all the same. The first page has no pause, and digests later than the spread
 * have none.
 */
export const createDigestPace = (clock: Clock): DigestPace => {
  const nowMs = (): number => clock.now().getTime();
  let begunMs = 0;
  let pauseMs = 0;
  let countedDay = '';
  let due = 0;
  return {
    waitMs: () => {
      const passedMs = nowMs() - begunMs;
      // A clock that was set back does not prolong the pause.
      return passedMs < 0 ? 0 : Math.max(0, pauseMs - passedMs);
    },
    begin: async ({ digests, periodEndMs, day }, countDue) => {
      begunMs = nowMs();
      pauseMs = 0;
      const leftMs = periodEndMs + DIGEST_WAIT_MS - begunMs;
      if (leftMs <= 0) return;
      if (day !== countedDay) due = await countDue();
      countedDay = day;
      const evenMs = (leftMs * digests) / Math.max(due, digests);
      pauseMs = Math.min(evenMs, (digests / DIGESTS_PER_MINUTE) * MINUTE_MS);
      due -= digests;
    },
  };
};
