import { utcDateSql } from '#contracts/values/windows.ts';

export const PAGE_OF_AD =
  'left join ads.page p on p.brand_id = a.brand_id and p.social_page_id = a.social_page_id';

/** Every later complete scan of the page also saw an active ad, unless one did not show it. */
export const LAST_SEEN_AT = `case when a.status = 'active' and not a.not_shown_since then greatest(a.seen_at, p.complete_at) else a.seen_at end`;

/** Rule 12: from start date or first day seen to stop date or last day seen running; `null` when never running. */
export const DAYS_ACTIVE = `case when a.stopped_on is not null or a.observed_running
  then greatest(0, coalesce(a.stopped_on, ${utcDateSql(LAST_SEEN_AT)}) - a.listed_on) end`;
