import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { AdCardContent } from '#contracts/events/corpus/ad-library-values.ts';
import type { AdObservationCorrected, Occurrence } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { landingPageOf } from '#contracts/values/links/landing-pages.ts';
import type { AdFormat } from '#contracts/values/primitives.ts';
import type { SignalKind } from '#contracts/values/signals.ts';
import { utcDate } from '#contracts/values/time.ts';
import type { Change, Row } from '../define-projection.ts';

export type LibraryEvent = RecordedEvent<AdLibraryEvent>;

export type When = { readonly brand_id: string; readonly observed_at: string };

export const sumUpFrom = ({ brand_id, observed_at }: When): Change => ({
  kind: 'refresh',
  statement: 'sum_up_day',
  row: { brand_id, date: utcDate(observed_at) },
});

type Counted = {
  readonly minus?: AdFormat;
  readonly plus?: AdFormat;
  readonly uncovered?: number;
  readonly relabelled?: number;
  readonly moved?: number;
};

export const addStep = ({ brand_id, observed_at }: When, counted: Counted): Change => {
  const { minus, plus, uncovered = 0, relabelled = 0, moved = 0 } = counted;
  const by = { video: 0, image: 0, carousel: 0, dco: 0, other: 0, uncovered, relabelled, moved };
  if (minus) by[minus] -= 1;
  if (plus) by[plus] += 1;
  return { kind: 'increment', table: 'step', key: { brand_id, at: new Date(observed_at).toISOString() }, by };
};

type Cause = Occurrence['kind'];

export const putOccurrence = (
  event: LibraryEvent,
  ad_id: string,
  of: Pick<Occurrence, 'kind' | 'scan_id' | 'observed_at' | 'brand_id'>,
  is_added = false,
): Change => ({
  kind: 'run',
  statement: 'put_occurrence',
  row: {
    ad_id,
    cause: of.kind,
    scan_id: of.scan_id,
    brand_id: of.brand_id ?? event.data.brand_id,
    observed_at: of.observed_at,
    position: event.position,
    is_added,
  },
});

/** Marks an occurrence as withdrawn, or removes the mark. For a moved ad, the mark states its brand at that time. */
export const markOccurrence = (
  event: RecordedEvent<AdObservationCorrected>,
  ad_id: string,
  of: Occurrence,
  is_withdrawn: boolean,
): readonly Change[] => {
  const { position, data } = event;
  const key = { ad_id, cause: of.kind, scan_id: of.scan_id };
  const brand_id = of.brand_id ?? (data.after.placings === undefined ? null : data.brand_id);
  return [
    { kind: 'run', statement: 'mark_occurrence', row: { ...key, brand_id, position, is_withdrawn } },
    // The brand of the ad may have changed since.
    { kind: 'refresh', statement: 'sum_up_marked', row: key },
  ];
};

/** `cause` is the event that names the ad. A withdrawn occurrence names none. */
export type Naming = { readonly ad_id: string; readonly scan_id: string; readonly cause: Cause | 'revised' };

export const nameAd = (
  { brand_id, observed_at }: When,
  kind: SignalKind,
  { ad_id, scan_id, cause }: Naming,
): Change => ({
  kind: 'upsert',
  table: 'named_ad',
  key: { brand_id, date: utcDate(observed_at), kind, ad_id, cause, scan_id },
  set: { observed_at },
});

/** `position` is null for corrections of another brand's stream, which are no report of this brand. */
export type Reporting = { readonly position: bigint | null; readonly is_added: boolean };

export const reportedBy = ({ position, type }: LibraryEvent): Reporting => ({
  position,
  is_added: type === 'AdObservationCorrected',
});

/** `started_on` is set if the ad can make a page that was never scanned before news. */
export type Meeting = Reporting & {
  readonly ad_id: string;
  readonly news: boolean;
  readonly started_on?: string | null;
  readonly social_page_id: string | null;
  readonly page_name: string | null;
};

const meetChange = ({ brand_id, observed_at }: When, row: Row): Change => ({
  kind: 'run',
  statement: 'meet',
  row: { brand_id, observed_at, ...row },
});

export const meetPage = (when: When, meeting: Meeting): readonly Change[] =>
  meeting.social_page_id === null
    ? []
    : [meetChange(when, { kind: 'page', key: meeting.social_page_id, ...meeting })];

type Leading = {
  readonly link_url?: string | null | undefined;
  readonly cards?: readonly AdCardContent[] | undefined;
};

const pagesOf = ({ link_url, cards = [] }: Leading): ReadonlyMap<string, string> => {
  const links = new Set([link_url, ...cards.map((card) => card.link_url)]);
  return new Map(
    [...links].flatMap((link) => {
      const page = link ? landingPageOf(link) : null;
      return page === null ? [] : [[page.landing_page_id, page.page_url] as const];
    }),
  );
};

export const meetLinks = (
  when: When,
  leading: Leading,
  meeting: Meeting,
  before: Leading = {},
): readonly Change[] => {
  const earlier = pagesOf(before);
  return [...pagesOf(leading)]
    .filter(([key]) => !earlier.has(key))
    .map(([key, destination_url]) =>
      meetChange(when, { kind: 'landing_page', key, destination_url, ...meeting }),
    );
};
