import { MINUTE_MS } from '#contracts/values/time.ts';
import type { Clock } from '#platform/clock.ts';

/** The digests of a period are sent within this time after its end, however many there are. */
export const DIGEST_WAIT_MS = 15 * MINUTE_MS;
/**
 * Digests per minute, so that alerts and receivers are not held up. There are more only where digests would be late
 * otherwise.
 */
const DIGESTS_PER_MINUTE = 3_000;

export type BegunPage = {
  readonly digests: number;
  /** In milliseconds since 1970. */
  readonly periodEndMs: number;
  readonly day: string;
};

export type DigestPace = {
  /** 0: the next page may be sent now. */
  waitMs(): number;
  /**
   * Call it when the page begins, so that its work counts as part of the pause. `countDue`, called once a day, includes
   * the page.
   */
  begin(page: BegunPage, countDue: () => Promise<number>): Promise<void>;
};

/**
 * Divides the digests left over the time left of the spread, so nothing is stored and a restart ends in time. The first
 * page and late digests have no pause.
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
