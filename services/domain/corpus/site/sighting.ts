import { SITE_EVENT_MAX_CHARACTERS, type SiteEvent } from '#contracts/events/corpus/site.ts';
import { boundedGroups } from '#domain/event-size-limit.ts';

/** In every event of a site's scan: whose site it is, and when the scan looked. */
export type SiteSighting = {
  readonly brand_id: string;
  readonly domain: string;
  readonly observed_at: string;
};

/** What complete scans at least so far apart both miss is gone. */
export const GONE_AFTER_HOURS = 20;
const HOUR_MS = 3_600_000;

/** Whether something missing since then is no longer there. */
export const isGone = (missingSince: string, observedAt: string): boolean =>
  Date.parse(observedAt) - Date.parse(missingSince) >= GONE_AFTER_HOURS * HOUR_MS;

/** Events of one type, each with some of the items. */
export const inGroups = <Item>(
  items: readonly Item[],
  eventOf: (group: readonly Item[]) => SiteEvent,
): SiteEvent[] => boundedGroups(items, SITE_EVENT_MAX_CHARACTERS).map(eventOf);
