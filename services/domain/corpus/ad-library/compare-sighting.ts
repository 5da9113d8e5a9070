import type { AdContent, AdLibraryEvent, AdsReworded, Aspect } from '#contracts/events/corpus/ad-library.ts';
import type { BrandedContent, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { changesOf, compareContent, withExistingCards, differOnlyInFraming, pick } from './ad-content.ts';
import { countedOf, excerptOf, type ScanHeader, sightingOf } from './scan.ts';
import { collectorOf, formatOf, type AdState, type ScannedPage } from './state.ts';

/** Comparison of a running ad in a scan with its recorded state (rules 4 to 6). */

export type RewordedAd = AdsReworded['data']['ads'][number];

/**
 * Events of one sighting apart from those about the ad's status; `reworded` is `null` when the wording is unchanged.
 */
export type SightingComparison = {
  readonly events: readonly AdLibraryEvent[];
  readonly reworded: RewordedAd | null;
};

type Field = keyof AdContent;

/**
 * True when a difference comes from the collector and not from the brand (rule 6). This requires another collector than
 * the one that last saw the ad, and one of three conditions:
 * - most ads of the scan differ in the aspect;
 * - the ad was absent from the scan in which the collector changed, so that a new wording and a new text look the same;
 * - the text only gained or lost its framing.
 */
const isCollectorDifference = (
  scan: ScanHeader,
  existing: AdState,
  page: ScannedPage | undefined,
  rewordedAspects: readonly Aspect[],
  seen: AdContent,
  aspect: Aspect,
  fields: readonly Field[],
): boolean => {
  if (collectorOf(existing, page) === scan.collector) return false;
  const missedCollectorSwitch = page !== undefined && page.collector === scan.collector;
  return (
    rewordedAspects.includes(aspect) ||
    missedCollectorSwitch ||
    differOnlyInFraming(existing.content, seen, fields)
  );
};

/**
 * Returns the partner of the ad if it is new, else `null`. A partner that the scan names without a page id counts as
 * the existing one if that has a page id or the same page name.
 */
const newPartner = (existing: AdState, ad: ObservedAd): BrandedContent | null => {
  const seen = ad.branded_content ?? null;
  const before = existing.branded_content;
  if (seen === null || before === undefined) return seen;
  if (seen.page_id !== null) return seen.page_id === before.page_id ? null : seen;
  return before.page_id !== null || seen.page_name === before.page_name ? null : seen;
};

/**
 * Returns an event that fills blanks of the ad: content fields, countries, start date, page or partner. A filled blank
 * is not news.
 */
const completeDetails = (
  scan: ScanHeader,
  existing: AdState,
  ad: ObservedAd,
  seen: AdContent,
  completed: readonly Field[],
): readonly AdLibraryEvent[] => {
  const added = scan.countries.filter((country) => !existing.countries.includes(country));
  const partner = newPartner(existing, ad);
  const completes =
    partner !== null ||
    completed.length > 0 ||
    added.length > 0 ||
    (existing.started_on === null && ad.started_on !== null) ||
    (existing.page_id === null && ad.page_id !== null);
  if (!completes) return [];
  return [
    {
      type: 'AdDetailsObserved',
      data: {
        ...sightingOf(scan),
        ...countedOf(existing),
        started_on: existing.started_on ?? ad.started_on,
        countries: [...existing.countries, ...added],
        details: pick(seen, completed),
        page_id: existing.page_id ?? ad.page_id,
        page_name: existing.page_name ?? ad.page_name,
        was_format: formatOf(existing.content),
        added_countries: added,
        ...(partner === null ? {} : { branded_content: partner }),
      },
    },
  ];
};

/**
 * Compares a running ad with its recorded state (rules 4 to 6). `rewordedAspects`: aspects that the collector reworded,
 * as found by rule 6.
 */
export const compareSighting = (
  scan: ScanHeader,
  ad: ObservedAd,
  existing: AdState,
  page: ScannedPage | undefined,
  rewordedAspects: readonly Aspect[],
): SightingComparison => {
  const seen = withExistingCards(existing.content, ad);
  const { different, completed } = compareContent(existing.content, seen);
  const about = {
    ...sightingOf(scan),
    ...countedOf(existing),
    excerpt: excerptOf(existing.page_id ?? ad.page_id, existing.page_name ?? ad.page_name, existing.content),
  };
  const events: AdLibraryEvent[] = [];
  const revised: Field[] = [];
  const rewordedFields: Field[] = [];
  for (const [aspect, fields] of different) {
    if (isCollectorDifference(scan, existing, page, rewordedAspects, seen, aspect, fields))
      rewordedFields.push(...fields);
    else revised.push(...fields);
  }
  const { link_url: from_url } = existing.content;
  const { link_url: to_url } = seen;
  if (revised.includes('link_url') && from_url !== null && to_url !== null) {
    events.push({ type: 'AdDestinationChanged', data: { ...about, from_url, to_url } });
  }
  // The cards are part of a carousel ad's content, so a changed card link is a revision of the ad.
  const rewritten = [...new Set(revised)].filter((field) => field !== 'link_url');
  if (rewritten.length > 0) {
    events.push({
      type: 'AdRevised',
      data: { ...about, changes: changesOf(existing.content, seen, rewritten) },
    });
  }
  events.push(...completeDetails(scan, existing, ad, seen, completed));
  const wording = pick(
    seen,
    rewordedFields.filter((field) => !revised.includes(field)),
  );
  const was_format = formatOf(existing.content);
  const reworded =
    Object.keys(wording).length === 0
      ? null
      : {
          ad_id: ad.ad_id,
          wording,
          was_format,
          format: wording.format ?? was_format,
          countries: existing.countries,
        };
  return { events, reworded };
};
