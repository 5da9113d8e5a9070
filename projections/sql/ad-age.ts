import { utcDateSql } from '#contracts/values/windows.ts';

/** Times and ages of an ad `a` of read model `ads`, as SQL. */

/** Joins the page `p` of an ad, which has the time of its last complete scan. */
export const PAGE_OF_AD =
  'left join ads.page p on p.brand_id = a.brand_id and p.social_page_id = a.social_page_id';

/** When the ad was last seen. Every later complete scan of its page also saw an active ad, unless one did not show it. */
export const LAST_SEEN_AT = `case when a.status = 'active' and not a.not_shown_since then greatest(a.seen_at, p.complete_at) else a.seen_at end`;

/**
 * Days that the ad ran, as far as observed (rule 12): from the start date, else the first day seen, to the stop date,
 * else the last day seen running. `null` for an ad that was never seen running and has no stop date.
 */
export const DAYS_ACTIVE = `case when a.stopped_on is not null or a.observed_running
  then greatest(0, coalesce(a.stopped_on, ${utcDateSql(LAST_SEEN_AT)}) - a.listed_on) end`;
