import { DAY_MS, utcDate, utcDateOfMs } from '#contracts/values/time.ts';
import type { AlertCadence, AlertChannel, AlertTrigger } from '#contracts/values/alerts.ts';
import {
  type AdConfirmedInactive,
  type AdDestinationChanged,
  type AdLibraryEvent,
  type AdStarted,
  excerptOfBody,
} from '#contracts/events/corpus/ad-library.ts';
import type { Occurrence } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { PageRole } from '#contracts/observations/social-page-link.ts';
import type { AlertItemType } from '#contracts/webhooks/alert-payload.ts';
import { derivedId } from '#domain/ids.ts';

/**
 * Matching of events with alert rules: the happenings that rules fire on, and the ids of their deliveries. Everything
 * here follows from the log alone, so that a replay gives the same deliveries.
 */

/** An observation about a brand that alert rules may fire on. */
export type TriggerEvent = {
  /** Id of the event, which is also the id of its radar item. A new partner has an id derived from it. */
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
  /** Role of a linked page; `null` for other happenings. */
  readonly role: PageRole | null;
  readonly basis: 'library' | 'absence' | null;
};

/** State of a social page with respect to one brand, before an event. */
export type BrandPage = {
  /** Role as which the page is linked to the brand; `null` when it is not linked. */
  readonly role: PageRole | null;
  readonly ran_ads: boolean;
  /** True when the page was reported as a new partner once; it is never reported again. */
  readonly was_new_partner: boolean;
};
export const UNKNOWN_PAGE: BrandPage = { role: null, ran_ads: false, was_new_partner: false };

/**
 * Tolerance of start dates, as for the novelty of ads (rule 3 of services/domain/README.md): they are days of another
 * time zone.
 */
const NEWS_GRACE_MS = DAY_MS;

const EMPTY_FIELDS = {
  ad_id: null,
  page_id: null,
  page_name: null,
  destination_url: null,
  previous_destination_url: null,
  words: null,
  role: null,
  basis: null,
} as const;

const started = (id: string, { data }: AdStarted): TriggerEvent => ({
  ...EMPTY_FIELDS,
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

const stopped = (id: string, { data }: AdConfirmedInactive): TriggerEvent => ({
  ...EMPTY_FIELDS,
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

const destinationChanged = (id: string, { data }: AdDestinationChanged): TriggerEvent => ({
  ...EMPTY_FIELDS,
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

/** Returns the happenings of an ad library event, without new partners. Baseline and late ads are not news. */
export const triggersOfLibraryEvent = (id: string, event: AdLibraryEvent): readonly TriggerEvent[] => {
  switch (event.type) {
    case 'AdStarted':
      return event.data.novelty === 'news' ? [started(id, event)] : [];
    case 'AdConfirmedInactive':
      return event.data.news ? [stopped(id, event)] : [];
    case 'AdDestinationChanged':
      return [destinationChanged(id, event)];
    case 'AdRevised':
    case 'AdDetailsObserved':
    case 'AdReturned':
    case 'AdsMissed':
    case 'AdsSeen':
    case 'AdsStillInactive':
    case 'AdsReworded':
    case 'AdObservationCorrected':
    case 'AdAttributed':
    case 'ScanCorrected':
    case 'ScanRecorded':
      return [];
  }
};

/** Returns a key of what a scan showed of an ad. */
export const occurrenceKey = (
  adId: string,
  { kind, scan_id }: Pick<Occurrence, 'kind' | 'scan_id'>,
): string => `${adId}|${kind}|${scan_id}`;

const OCCURRENCES: Readonly<Partial<Record<AdLibraryEvent['type'], Occurrence['kind']>>> = {
  AdStarted: 'started',
  AdConfirmedInactive: 'stopped',
  AdDestinationChanged: 'destination_changed',
};

/** Returns the key of the occurrence that the event reports; `null` for events that no correction withdraws. */
export const occurrenceOf = ({ type, data }: AdLibraryEvent): string | null => {
  const kind = OCCURRENCES[type];
  return kind === undefined || !('ad_id' in data)
    ? null
    : occurrenceKey(data.ad_id, { kind, scan_id: data.scan_id });
};

const isPartner = (role: PageRole | null): boolean => role === 'CREATOR' || role === 'PARTNER';

/** Result of an event about a page and a brand: the page's new state, and the happenings. */
export type PageOutcome = { readonly page: BrandPage; readonly happenings: readonly TriggerEvent[] };

/**
 * Handles the first ad of the brand on a page: a new partner, unless the page is the brand's own. It is not news in the
 * first scan of the brand, nor if the ad started before the brand's last complete scan. A page that was never scanned
 * before may be a new partner: partners usually appear on pages that no earlier scan had a reason to cover.
 */
export const matchAdOnPage = (
  id: string,
  { data }: AdStarted,
  page: BrandPage,
  /** Time of the brand's last complete scan before this one; `null` when there was none. */
  lastCompleteAt: string | null,
): PageOutcome => {
  if (page.ran_ads) return { page, happenings: [] };
  const since = lastCompleteAt === null ? null : utcDateOfMs(Date.parse(lastCompleteAt) - NEWS_GRACE_MS);
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

/**
 * Handles a page that is linked or unlinked. A new role or confidence of an existing link does not count as a newly
 * linked page. A repeated or older observation of a link changes nothing.
 */
export const matchPageLink = (id: string, event: SocialPageEvent, page: BrandPage): PageOutcome => {
  if (event.type === 'PageProfileObserved' || event.type === 'PageLinkObserved')
    return { page, happenings: [] };
  if (event.type !== 'PageLinked') return { page: { ...page, role: null }, happenings: [] };
  const { brand_id, page_id, page_name, role, observed_at } = event.data;
  const linked: TriggerEvent = {
    ...EMPTY_FIELDS,
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

/** Period of a digest: its first and last day, and the time at which it ends (exclusive). */
export type Period = { readonly from: string; readonly to: string; readonly end: string };

/** Returns the UTC day or ISO week that contains a time. */
export const periodOf = (cadence: Exclude<AlertCadence, 'instant'>, time: string): Period => {
  const day = Date.parse(utcDate(time));
  // 1 January 1970 was a Thursday; weeks begin on Monday.
  const first = cadence === 'daily' ? day : day - ((Math.floor(day / DAY_MS) + 3) % 7) * DAY_MS;
  const end = first + (cadence === 'daily' ? 1 : 7) * DAY_MS;
  return { from: utcDateOfMs(first), to: utcDateOfMs(end - DAY_MS), end: new Date(end).toISOString() };
};

/**
 * Returns the id of a delivery. The same match always has the same id, so a replay sends nothing twice. `cause`: the
 * id of the event that closed a scan or linked a page, the id of a signal, or the days of a digest.
 */
export const deliveryIdOf = (alertId: string, channel: AlertChannel, cause: string): string =>
  derivedId('alert delivery', `${alertId}|${channel}|${cause}`);

export const digestCause = ({ from, to }: Period): string => `${from}/${to}`;
