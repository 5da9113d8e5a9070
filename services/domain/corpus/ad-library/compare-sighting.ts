import type { AdContent, AdLibraryEvent, AdsReworded, Aspect } from '#contracts/events/corpus/ad-library.ts';
import type { BrandedContent, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { changesOf, compareContent, contentBeside, framesTheSameText, pick } from './ad-content.ts';
import { countedOf, excerptOf, type ScanHeader, sightingOf } from './scan.ts';
import { collectorOf, formatOf, type KnownAd, type KnownPage } from './state.ts';

export type RewordedAd = AdsReworded['data']['ads'][number];

/** What a sighting of a known, running ad tells beside its status. */
export type Compared = { readonly events: readonly AdLibraryEvent[]; readonly reworded: RewordedAd | null };

type Field = keyof AdContent;

/**
 * Whether a difference is the collector's. An ad that missed the switch of collectors cannot tell a new
 * wording from a new text; and at a switch, a text that only gained or lost what frames it is the collector's
 * whatever the other ads show.
 */
const isCollectors = (
  scan: ScanHeader,
  known: KnownAd,
  page: KnownPage | undefined,
  verdict: readonly Aspect[],
  seen: AdContent,
  aspect: Aspect,
  fields: readonly Field[],
): boolean => {
  if (collectorOf(known, page) === scan.collector) return false;
  const missedTheSwitch = page !== undefined && page.collector === scan.collector;
  return verdict.includes(aspect) || missedTheSwitch || framesTheSameText(known.content, seen, fields);
};

/** The partner that a scan shows and that is not known. One that a scan names by less than is known is no other. */
const newPartner = (known: KnownAd, ad: ObservedAd): BrandedContent | null => {
  const seen = ad.branded_content ?? null;
  const before = known.branded_content;
  if (seen === null || before === undefined) return seen;
  if (seen.page_id !== null) return seen.page_id === before.page_id ? null : seen;
  return before.page_id !== null || seen.page_name === before.page_name ? null : seen;
};

/** The record becomes fuller: fields that were blank, another country, a start date, a page, a partner. No news. */
const completion = (
  scan: ScanHeader,
  known: KnownAd,
  ad: ObservedAd,
  seen: AdContent,
  completed: readonly Field[],
): readonly AdLibraryEvent[] => {
  const added = scan.countries.filter((country) => !known.countries.includes(country));
  const partner = newPartner(known, ad);
  const completes =
    partner !== null ||
    completed.length > 0 ||
    added.length > 0 ||
    (known.started_on === null && ad.started_on !== null) ||
    (known.page_id === null && ad.page_id !== null);
  if (!completes) return [];
  return [
    {
      type: 'AdDetailsObserved',
      data: {
        ...sightingOf(scan),
        ...countedOf(known),
        started_on: known.started_on ?? ad.started_on,
        countries: [...known.countries, ...added],
        details: pick(seen, completed),
        page_id: known.page_id ?? ad.page_id,
        page_name: known.page_name ?? ad.page_name,
        was_format: formatOf(known.content),
        added_countries: added,
        ...(partner === null ? {} : { branded_content: partner }),
      },
    },
  ];
};

/** Compares a running ad with what is known of it (rules 4 to 6). `verdict`: aspects worded by the collector. */
export const compareSighting = (
  scan: ScanHeader,
  ad: ObservedAd,
  known: KnownAd,
  page: KnownPage | undefined,
  verdict: readonly Aspect[],
): Compared => {
  const seen = contentBeside(known.content, ad);
  const { different, completed } = compareContent(known.content, seen);
  const about = {
    ...sightingOf(scan),
    ...countedOf(known),
    excerpt: excerptOf(known.page_id ?? ad.page_id, known.page_name ?? ad.page_name, known.content),
  };
  const events: AdLibraryEvent[] = [];
  const revised: Field[] = [];
  const worded: Field[] = [];
  for (const [aspect, fields] of different) {
    if (isCollectors(scan, known, page, verdict, seen, aspect, fields)) worded.push(...fields);
    else revised.push(...fields);
  }
  const { link_url: from_url } = known.content;
  const { link_url: to_url } = seen;
  if (revised.includes('link_url') && from_url !== null && to_url !== null) {
    events.push({ type: 'AdDestinationChanged', data: { ...about, from_url, to_url } });
  }
  // Of a carousel the cards are the ad: that one leads elsewhere is a revision of it.
  const rewritten = [...new Set(revised)].filter((field) => field !== 'link_url');
  if (rewritten.length > 0) {
    events.push({
      type: 'AdRevised',
      data: { ...about, changes: changesOf(known.content, seen, rewritten) },
    });
  }
  events.push(...completion(scan, known, ad, seen, completed));
  const wording = pick(
    seen,
    worded.filter((field) => !revised.includes(field)),
  );
  const was_format = formatOf(known.content);
  const reworded =
    Object.keys(wording).length === 0
      ? null
      : {
          ad_id: ad.ad_id,
          wording,
          was_format,
          format: wording.format ?? was_format,
          countries: known.countries,
        };
  return { events, reworded };
};
