import type { AdContent } from '#contracts/events/corpus/ad-library-values.ts';
import type {
  AdAttributed,
  AdObservationCorrected,
  AdRecord,
  AdStanding,
  Occurrence,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { isSaleCopy } from '#contracts/values/signals.ts';
import type { Change } from '../define-projection.ts';
import { attributedBy } from '../shared-tables/brand-totals.ts';
import {
  addStep,
  markOccurrence,
  meetLinks,
  meetPage,
  nameAd,
  putOccurrence,
  type Reporting,
  reportedBy,
  sumUpFrom,
  type When,
} from './changes.ts';
import { isLongRunner, textsOf } from './rules.ts';

/**
 * Figures after corrections equal those in the order of observation. Nothing of a correction is news; changes are
 * marked.
 */

/** Counts the ad, or removes it, from its first sighting until it was inactive. */
const countAd = (brand_id: string, ad: AdStanding, sign: 1 | -1): readonly Change[] => {
  const { format, novelty, first_seen_at, inactive_since, observed_running, status } = ad;
  const isUncovered = novelty !== 'news';
  const begin = addStep(
    { brand_id, observed_at: first_seen_at },
    { ...(sign === 1 ? { plus: format } : { minus: format }), uncovered: isUncovered ? sign : 0 },
  );
  if (status !== 'inactive') return [begin];
  const end = addStep(
    { brand_id, observed_at: inactive_since ?? first_seen_at },
    {
      ...(sign === 1 ? { minus: format } : { plus: format }),
      // The library did not count an ad that no scan showed running either.
      uncovered: isUncovered && !observed_running ? -sign : 0,
    },
  );
  return [begin, end];
};

const earliest = (times: readonly string[]): string =>
  times.reduce((one, other) => (other < one ? other : one));

const addOccurrence = (event: RecordedEvent<AdObservationCorrected>, of: Occurrence): readonly Change[] => {
  const { ad_id, after } = event.data;
  const brand_id = of.brand_id ?? event.data.brand_id;
  const when = { brand_id, observed_at: of.observed_at };
  const naming = { ad_id, scan_id: of.scan_id, cause: of.kind };
  const { position, is_added } = reportedBy(event);
  const page = {
    position: brand_id === event.data.brand_id ? position : null,
    is_added,
    social_page_id: after.page_id,
    page_name: after.page_name,
  };
  return [
    putOccurrence(event, ad_id, of, true),
    ...markOccurrence(event, ad_id, of, false),
    ...(of.kind === 'started' && isSaleCopy(textsOf(after.content)) ? [nameAd(when, 'sale', naming)] : []),
    ...(of.kind === 'destination_changed'
      ? [
          ...(isLongRunner(after, of.observed_at) ? [nameAd(when, 'long_runner_refreshed', naming)] : []),
          ...meetLinks(when, { link_url: of.to_url }, { ad_id, news: true, ...page }),
        ]
      : []),
  ];
};

const firstContent = ({ content }: AdRecord, added: readonly Occurrence[]): AdContent => {
  const [first] = added
    .filter(({ kind }) => kind === 'destination_changed')
    .toSorted((one, other) => (one.observed_at < other.observed_at ? -1 : 1));
  return first?.from_url === undefined ? content : { ...content, link_url: first.from_url };
};

const meetFirst = (
  when: When,
  ad: AdRecord,
  content: AdContent,
  { news, ...reporting }: Reporting & { readonly news: boolean },
): readonly Change[] => {
  const meeting = {
    ...reporting,
    ad_id: ad.ad_id,
    news,
    social_page_id: ad.page_id,
    page_name: ad.page_name,
  };
  return [
    ...meetLinks(when, content, meeting),
    ...meetPage(when, { ...meeting, started_on: news ? ad.started_on : null }),
  ];
};

export const correctAd = (event: RecordedEvent<AdObservationCorrected>): readonly Change[] => {
  const { ad_id, brand_id, before, after, withdrawn, added, observed_at } = event.data;
  const first = { brand_id, observed_at: after.first_seen_at };
  const isFirst =
    before === null || before.first_seen_at !== after.first_seen_at || before.novelty !== after.novelty;
  return [
    ...(before === null ? [] : countAd(brand_id, before, -1)),
    ...countAd(brand_id, after, 1),
    ...withdrawn
      .filter((of) => !added.some(({ kind, scan_id }) => kind === of.kind && scan_id === of.scan_id))
      .flatMap((of) => markOccurrence(event, ad_id, of, true)),
    ...added.flatMap((of) => addOccurrence(event, of)),
    ...(isFirst
      ? meetFirst(first, after, firstContent(after, added), {
          ...reportedBy(event),
          news: after.novelty === 'news',
        })
      : []),
    sumUpFrom({
      brand_id,
      observed_at: earliest([
        observed_at,
        after.first_seen_at,
        ...(before === null ? [] : [before.first_seen_at]),
        ...added.map((of) => of.observed_at),
      ]),
    }),
  ];
};

/**
 * Handles the move in the stream of each of the two brands. The ad counts for the present brand from the move on. No
 * brand grows or shrinks by it, and its pages are no news.
 */
export const attributeAd = (event: RecordedEvent<AdAttributed>): readonly Change[] => {
  const { ad } = event.data;
  const sign = attributedBy(event);
  const counted = {
    ...(sign === 1 ? { plus: ad.format } : { minus: ad.format }),
    relabelled: 1,
    moved: sign,
  };
  return [
    ...(ad.status === 'inactive' ? [] : [addStep(event.data, counted)]),
    ...(sign === 1 ? meetFirst(event.data, ad, ad.content, { ...reportedBy(event), news: false }) : []),
    sumUpFrom(event.data),
  ];
};
