import { HOUR_MS } from '#contracts/values/time.ts';
import { SITE_EVENT_MAX_CHARACTERS, type SiteEvent } from '#contracts/events/corpus/site.ts';
import { boundedGroups } from '#domain/event-size-limit.ts';

export type SiteSighting = {
  readonly brand_id: string;
  readonly domain: string;
  readonly observed_at: string;
};

export const GONE_AFTER_HOURS = 20;

export const isGone = (missingSince: string, observedAt: string): boolean =>
  Date.parse(observedAt) - Date.parse(missingSince) >= GONE_AFTER_HOURS * HOUR_MS;

export const inGroups = <Item>(
  items: readonly Item[],
  eventOf: (group: readonly Item[]) => SiteEvent,
): SiteEvent[] => boundedGroups(items, SITE_EVENT_MAX_CHARACTERS).map(eventOf);
