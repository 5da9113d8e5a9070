import { HOUR_MS } from '#contracts/values/time.ts';
import { SITE_EVENT_MAX_CHARACTERS, type SiteEvent } from '#contracts/events/corpus/site.ts';
import { boundedGroups } from '#domain/event-size-limit.ts';

/** Fields that every event of a site scan has: the brand, its domain and the time of the scan. */
export type SiteSighting = {
  readonly brand_id: string;
  readonly domain: string;
  readonly observed_at: string;
};

/** Minimum hours between two complete scans that both miss a tool or test before it counts as gone. */
export const GONE_AFTER_HOURS = 20;

/** True when something missing since `missingSince` counts as gone at `observedAt`. */
export const isGone = (missingSince: string, observedAt: string): boolean =>
  Date.parse(observedAt) - Date.parse(missingSince) >= GONE_AFTER_HOURS * HOUR_MS;

/** Splits the items over events of one type, so that no event exceeds the size limit. */
export const inGroups = <Item>(
  items: readonly Item[],
  eventOf: (group: readonly Item[]) => SiteEvent,
): SiteEvent[] => boundedGroups(items, SITE_EVENT_MAX_CHARACTERS).map(eventOf);
