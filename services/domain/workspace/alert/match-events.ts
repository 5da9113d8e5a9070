import type { AlertCadence, AlertChannel, AlertTrigger } from '#contracts/values/alerts.ts';
import {
  type AdConfirmedInactive,
  type AdDestinationChanged,
  type AdLibraryEvent,
  type AdStarted,
  excerptOfBody,
} from '#contracts/events/corpus/ad-library.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { PageRole } from '#contracts/observations/social-page-link.ts';
import type { AlertItemType } from '#contracts/webhooks/alert-payload.ts';
import { derivedId } from '#domain/ids.ts';

/** Which events which rules fire on, and under which ids. Everything here follows from the log alone. */

/** Something that rules of a brand may fire on, as it was observed. */
export type Happening = {
  /** That of the event; the same as the radar's item where there is one. */
  readonly id: string;
  readonly trigger: AlertTrigger;
  readonly type: AlertItemType;
  readonly brand_id: string;
  readonly observed_at: string;
  readonly ad_id: string | null;
  readonly page_id: string | null;
  readonly page_name: string | null;
  readonly destination_url: string | null;
  readonly previous_destination_url: string | null;
  /** The ad's title, else the beginning of its text. */
  readonly words: string | null;
  /** What the page was linked as, where that is what was observed. */
  readonly role: PageRole | null;
  readonly basis: 'library' | 'absence' | null;
};

/** What is known of a page beside a brand, before an event. */
export type PageOfBrand = {
  /** What it is linked as; `null` when it is not. */
  readonly role: PageRole | null;
  readonly ran_ads: boolean;
  /** It has been a new partner once, and is no new one again. */
  readonly was_new_partner: boolean;
};
export const UNKNOWN_PAGE: PageOfBrand = { role: null, ran_ads: false, was_new_partner: false };

const DAY_MS = 86_400_000;
/** As for the novelty of ads (DESIGN §5, rule 3): the library's dates are days of another time zone. */
const NEWS_GRACE_MS = DAY_MS;

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const NOTHING_ELSE = {
  ad_id: null,
  page_id: null,
  page_name: null,
  destination_url: null,
  previous_destination_url: null,
  words: null,
  role: null,
  basis: null,
} as const;

const started = (id: string, { data }: AdStarted): Happening => ({
  ...NOTHING_ELSE,
  id,
  trigger: 'new_ads',
  type: 'ad_started',
  brand_id: data.brand_id,
  observed_at: data.observed_at,
  ad_id: data.ad_id,
  page_id: data.page_id,
  page_name: data.page_name,
  destination_url: data.content.link_url,
  words: data.content.title ?? excerptOfBody(data.content.body),
});

const stopped = (id: string, { data }: AdConfirmedInactive): Happening => ({
  ...NOTHING_ELSE,
  id,
  trigger: 'stopped_ads',
  type: 'ad_stopped',
  brand_id: data.brand_id,
  observed_at: data.observed_at,
  ad_id: data.ad_id,
  page_id: data.excerpt.page_id,
  page_name: data.excerpt.page_name,
  words: data.excerpt.title ?? data.excerpt.body,
  basis: data.basis,
});

const moved = (id: string, { data }: AdDestinationChanged): Happening => ({
  ...NOTHING_ELSE,
  id,
  trigger: 'page_changes',
  type: 'destination_changed',
  brand_id: data.brand_id,
  observed_at: data.observed_at,
  ad_id: data.ad_id,
  page_id: data.excerpt.page_id,
  page_name: data.excerpt.page_name,
  destination_url: data.to_url,
  previous_destination_url: data.from_url,
  words: data.excerpt.title ?? data.excerpt.body,
});

/** What an event about a brand's ads says to rules, apart from partners. Baselines and late finds are no news. */
export const happeningsInLibrary = (id: string, event: AdLibraryEvent): readonly Happening[] => {
  switch (event.type) {
    case 'AdStarted':
      return event.data.novelty === 'news' ? [started(id, event)] : [];
    case 'AdConfirmedInactive':
      return event.data.news ? [stopped(id, event)] : [];
    case 'AdDestinationChanged':
      return [moved(id, event)];
    case 'AdRevised':
    case 'AdDetailsObserved':
    case 'AdReturned':
    case 'AdsMissed':
    case 'AdsSeen':
    case 'AdsReworded':
    case 'ScanRecorded':
      return [];
  }
};

const isPartner = (role: PageRole | null): boolean => role === 'CREATOR' || role === 'PARTNER';

/** What an event says of a page beside a brand: what happened, and what is known from here on. */
export type PageOutcome = { readonly page: PageOfBrand; readonly happenings: readonly Happening[] };

/**
 * An ad of the brand on a page that never ran one: a new partner, unless the page is the brand's own. The first
 * scan of the brand is no news, and neither is an ad that ran before the last complete one. That a page was looked
 * at for the first time does not matter: partners are met on pages that nobody had a reason to look at.
 */
export const meetAdOnPage = (
  id: string,
  { data }: AdStarted,
  page: PageOfBrand,
  /** When a complete scan of the brand last looked, before this one. */
  lastCompleteAt: string | null,
): PageOutcome => {
  if (page.ran_ads) return { page, happenings: [] };
  const since = lastCompleteAt === null ? null : dateOf(Date.parse(lastCompleteAt) - NEWS_GRACE_MS);
  const isNews =
    data.novelty !== 'late' && since !== null && data.started_on !== null && data.started_on >= since;
  const isNew = isNews && !page.was_new_partner && (page.role === null || isPartner(page.role));
  return {
    page: { ...page, ran_ads: true, was_new_partner: page.was_new_partner || isNew },
    happenings: isNew
      ? [
          {
            ...started(id, { type: 'AdStarted', data }),
            id: derivedId('partner', id),
            trigger: 'new_partners',
            type: 'partner_started',
          },
        ]
      : [],
  };
};

/** A page linked or unlinked; another role or confidence of the same link is no page newly linked. */
export const meetPageLink = (id: string, event: SocialPageEvent, page: PageOfBrand): PageOutcome => {
  if (event.type === 'PageProfileObserved') return { page, happenings: [] };
  if (event.type !== 'PageLinked') return { page: { ...page, role: null }, happenings: [] };
  const { brand_id, page_id, page_name, role, observed_at } = event.data;
  const linked: Happening = {
    ...NOTHING_ELSE,
    id,
    trigger: 'page_changes',
    type: 'page_linked',
    brand_id,
    observed_at,
    page_id,
    page_name,
    role,
  };
  const isNew = isPartner(role) && !isPartner(page.role) && !page.was_new_partner;
  return {
    page: { ...page, role, was_new_partner: page.was_new_partner || isNew },
    happenings: [
      ...(page.role === null ? [linked] : []),
      ...(isNew
        ? [
            {
              ...linked,
              id: derivedId('partner', id),
              trigger: 'new_partners',
              type: 'partner_started',
            } as const,
          ]
        : []),
    ],
  };
};

/** Days of a digest, both included, and the moment after them. */
export type Period = { readonly from: string; readonly to: string; readonly end: string };

/** The UTC day or ISO week that a time lies in. */
export const periodOf = (cadence: Exclude<AlertCadence, 'instant'>, time: string): Period => {
  const day = Date.parse(time.slice(0, 10));
  // 1970 began on a Thursday; weeks begin on Monday.
  const first = cadence === 'daily' ? day : day - ((Math.floor(day / DAY_MS) + 3) % 7) * DAY_MS;
  const end = first + (cadence === 'daily' ? 1 : 7) * DAY_MS;
  return { from: dateOf(first), to: dateOf(end - DAY_MS), end: new Date(end).toISOString() };
};

/**
 * The same match is the same delivery however often it is met. `cause`: the event that closed a scan or linked a
 * page, the id of a signal, or the days of a digest.
 */
export const deliveryIdOf = (alertId: string, channel: AlertChannel, cause: string): string =>
  derivedId('alert delivery', `${alertId}|${channel}|${cause}`);

export const causeOfDigest = ({ from, to }: Period): string => `${from}/${to}`;
