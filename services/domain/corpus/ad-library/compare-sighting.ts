import { isEqual } from 'es-toolkit/predicate/isEqual';
import { union } from 'es-toolkit/array/union';
import type { AdObservationCorrected } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdContent, BlankField } from '#contracts/events/corpus/ad-library-values.ts';
import type { AdDetailsObserved, AdLibraryEvent, AdsReworded } from '#contracts/events/corpus/ad-library.ts';
import type { BrandedContent, ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { cardsToState } from './ad-cards.ts';
import { changesOf, compareContent, withExistingCards, pick } from './ad-content.ts';
import { isCollectorDifference } from './collector-differences.ts';
import { countedOf, excerptOf, saidCountries, type ScanHeader, sightingOf } from './scan.ts';
import type { CollectorSwitch } from './collectors/switch.ts';
import { formatOf, type AdState, pairCountries, recordOf, standingOf } from './state.ts';
import { cardsSince, withLook } from './timeline.ts';

export type RewordedAd = AdsReworded['data']['ads'][number];

/** `reworded` is `null` when the wording is unchanged. */
export type SightingComparison = {
  readonly events: readonly AdLibraryEvent[];
  readonly reworded: RewordedAd | null;
};

type Field = keyof AdContent;

/** By normalised texts or repeated differences (rule 6). */
const isFromCollector = (
  switched: CollectorSwitch,
  existing: AdState,
  seen: AdContent,
  field: Field,
): boolean => {
  const differences = switched.differencesOf(existing, field);
  return (
    differences !== null && isCollectorDifference(field, existing.content[field], seen[field], differences)
  );
};

/** `null` when not new. Without a page id, the same page name or an existing page id counts as the same partner. */
const newPartner = (existing: AdState, ad: ObservedAd): BrandedContent | null => {
  const seen = ad.branded_content ?? null;
  const before = existing.branded_content;
  if (seen === null || before === undefined) return seen;
  if (seen.page_id !== null) return seen.page_id === before.page_id ? null : seen;
  return before.page_id !== null || seen.page_name === before.page_name ? null : seen;
};

/** Completes blank fields, countries, start date, page and partner. Never news. */
const completeDetails = (
  scan: ScanHeader,
  existing: AdState,
  ad: ObservedAd,
  seen: AdContent,
  completed: readonly Field[],
): readonly AdDetailsObserved[] => {
  const added = saidCountries(scan, ad).filter((country) => !existing.countries.includes(country));
  const countries = [...existing.countries, ...added];
  const pairs = union([...pairCountries(existing)], [...scan.countries]);
  const requested = isEqual(pairs, countries) ? {} : { requested_countries: pairs };
  const partner = newPartner(existing, ad);
  const completes =
    partner !== null ||
    completed.length > 0 ||
    added.length > 0 ||
    pairs.length > pairCountries(existing).length ||
    (ad.started_on !== null && ad.started_on !== existing.started_on) ||
    (existing.page_id === null && ad.page_id !== null);
  if (!completes) return [];
  return [
    {
      type: 'AdDetailsObserved',
      data: {
        ...sightingOf(scan),
        ...countedOf(existing),
        started_on: ad.started_on ?? existing.started_on,
        countries,
        ...requested,
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

/** Applies rules 4 to 6. */
export const compareSighting = (
  scan: ScanHeader,
  ad: ObservedAd,
  existing: AdState,
  switched: CollectorSwitch,
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
    for (const field of fields) {
      const isOwn = aspect === 'destination' || !isFromCollector(switched, existing, seen, field);
      (isOwn ? revised : rewordedFields).push(field);
    }
  }
  const { link_url: from_url } = existing.content;
  const { link_url: to_url } = seen;
  if (revised.includes('link_url') && from_url !== null && to_url !== null) {
    events.push({ type: 'AdDestinationChanged', data: { ...about, from_url, to_url } });
  }
  // Cards are content, so a changed card link is a revision of the ad.
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

/** A correction of an ended ad, never news; `null` when it shows the same. `blank`: fields that the scan left blank. */
export const updateInactiveAd = (
  scan: ScanHeader,
  existing: AdState,
  ad: ObservedAd,
  blank: readonly BlankField[],
): AdObservationCorrected | null => {
  const seen = withExistingCards(existing.content, ad);
  const { different, completed } = compareContent(existing.content, seen);
  const shown = pick(seen, [...new Set([...[...different.values()].flat(), ...completed])]);
  const [details] = completeDetails(scan, existing, ad, seen, []);
  const stopped_on = ad.stopped_on ?? existing.stopped_on;
  if (Object.keys(shown).length === 0 && !details && stopped_on === existing.stopped_on) return null;
  const { started_on, page_id, page_name, countries, added_countries, requested_countries, branded_content } =
    details?.data ?? { ...existing, added_countries: [] };
  const cards = cardsToState(shown.cards ?? cardsSince(existing.looks), ad.cards);
  const optional = {
    ...((requested_countries ?? existing.requested_countries)
      ? { requested_countries: requested_countries ?? countries }
      : {}),
    ...(branded_content ? { branded_content } : {}),
  };
  const look = {
    scan_id: scan.scan_id,
    observed_at: scan.scanned_at,
    kind: 'ended' as const,
    shown: {
      ...shown,
      ...(cards ? { cards } : {}),
      ...(started_on === existing.started_on ? {} : { started_on }),
      ...(page_id === existing.page_id ? {} : { page_id, page_name }),
      countries: added_countries,
      ...(branded_content ? { branded_content } : {}),
      ...(ad.stopped_on === null ? {} : { stopped_on: ad.stopped_on }),
    },
    blank,
  };
  const after = {
    ...existing,
    ...optional,
    started_on,
    stopped_on,
    page_id,
    page_name,
    countries,
    content: { ...existing.content, ...shown },
    looks: withLook(existing.looks, look),
  };
  return {
    type: 'AdObservationCorrected',
    data: {
      ...sightingOf(scan),
      ad_id: existing.ad_id,
      before: standingOf(existing),
      after: recordOf(after),
      withdrawn: [],
      added: [],
    },
  };
};
