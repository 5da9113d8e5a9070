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

export type TriggerEvent = {
  /** Also the id of the radar item. A new partner has a derived id. */
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
  /** Role of a linked page; `null` for other events. */
  readonly role: PageRole | null;
  readonly basis: 'library' | 'absence' | null;
};

export type BrandPage = {
  readonly role: PageRole | null;
  readonly ran_ads: boolean;
  /** A page is reported as a new partner only once. */
  readonly was_new_partner: boolean;
};
export const UNKNOWN_PAGE: BrandPage = { role: null, ran_ads: false, was_new_partner: false };

/** Tolerance of start dates, which are days of another time zone (rule 3 of services/domain/README.md). */
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

/** Omits new partners. Baseline and late ads are not news. */
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

export const occurrenceKey = (
  adId: string,
  { kind, scan_id }: Pick<Occurrence, 'kind' | 'scan_id'>,
): string => `${adId}|${kind}|${scan_id}`;

const OCCURRENCES: Readonly<Partial<Record<AdLibraryEvent['type'], Occurrence['kind']>>> = {
  AdStarted: 'started',
  AdConfirmedInactive: 'stopped',
  AdDestinationChanged: 'destination_changed',
};

/** `null` for events that no correction withdraws. */
export const occurrenceOf = ({ type, data }: AdLibraryEvent): string | null => {
  const kind = OCCURRENCES[type];
  return kind === undefined || !('ad_id' in data)
    ? null
    : occurrenceKey(data.ad_id, { kind, scan_id: data.scan_id });
};

const isPartner = (role: PageRole | null): boolean => role === 'CREATOR' || role === 'PARTNER';

/** The page's new state and the trigger events. */
export type PageOutcome = { readonly page: BrandPage; readonly happenings: readonly TriggerEvent[] };

/**
 * Reports a new partner, unless the page is the brand's own, the scan is its first, or the ad is older than the last
 * complete scan. A page without an earlier scan may be one: partners usually appear on such pages.
 */
export const matchAdOnPage = (
  id: string,
  { data }: AdStarted,
  page: BrandPage,
  /** Last complete scan before this one; `null` without one. */
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

/** A new role or confidence does not make a new link. Repeated and older observations change nothing. */
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

/** First and last day, and the exclusive end time. */
export type Period = { readonly from: string; readonly to: string; readonly end: string };

/** Returns the UTC day or ISO week. */
export const periodOf = (cadence: Exclude<AlertCadence, 'instant'>, time: string): Period => {
  const day = Date.parse(utcDate(time));
  // 1 January 1970 was a Thursday; weeks begin on Monday.
  const first = cadence === 'daily' ? day : day - ((Math.floor(day / DAY_MS) + 3) % 7) * DAY_MS;
  const end = first + (cadence === 'daily' ? 1 : 7) * DAY_MS;
  return { from: utcDateOfMs(first), to: utcDateOfMs(end - DAY_MS), end: new Date(end).toISOString() };
};

/** Equal for equal matches, so a replay sends nothing twice. `cause`: event id, signal id, or days of a digest. */
export const deliveryIdOf = (alertId: string, channel: AlertChannel, cause: string): string =>
  derivedId('alert delivery', `${alertId}|${channel}|${cause}`);

export const digestCause = ({ from, to }: Period): string => `${from}/${to}`;
