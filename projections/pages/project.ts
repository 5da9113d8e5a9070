import type { AdCardContent, AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { LandingPageEvent } from '#contracts/events/corpus/landing-page.ts';
import { landingPageOf } from '#contracts/values/landing-pages.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection, type Row } from '../define-projection.ts';
import {
  meet,
  move,
  NO_PAGE,
  placePagesOfAd,
  refreshPage,
  refreshPagesOfBrand,
  relistPagesOfAd,
} from './statements.ts';

const recordPage = (
  link: string,
  at: string,
): { readonly landing_page_id: string; readonly change: Change } | null => {
  const page = landingPageOf(link);
  if (!page) return null;
  const { landing_page_id, page_url, host, domains } = page;
  return {
    landing_page_id,
    change: { kind: 'run', statement: 'meet', row: { landing_page_id, page_url, host, domains, at } },
  };
};

type AdMove = {
  readonly ad_id: string;
  readonly link?: string | null | undefined;
  readonly cards?: readonly AdCardContent[] | undefined;
  readonly active?: boolean;
};

/**
 * Returns the landing pages behind the links of cards, each once; `page_ids` is `null` if no card was
 * observed.
 */
const recordCardPages = (cards: readonly AdCardContent[], at: string) => {
  if (cards.length === 0) return { page_ids: null, changes: [] };
  const met = cards.flatMap(({ link_url }) => (link_url === null ? [] : (recordPage(link_url, at) ?? [])));
  const byPage = new Map(met.map(({ landing_page_id, change }) => [landing_page_id, change]));
  return { page_ids: `{${[...byPage.keys()].toSorted().join()}}`, changes: [...byPage.values()] };
};

/**
 * Returns the changes of an ad that leads elsewhere, ends or runs again. If no link was observed, its link is
 * unchanged.
 */
const moveAd = (
  event: RecordedEvent<AdLibraryEvent>,
  { ad_id, link, cards = [], active }: AdMove,
): readonly Change[] => {
  const { brand_id, observed_at } = event.data;
  const isLinked = link !== null && link !== undefined;
  if (!isLinked && active === undefined && cards.length === 0) return [];
  const met = isLinked ? recordPage(link, observed_at) : null;
  const onCards = recordCardPages(cards, observed_at);
  const row: Row = {
    ad_id,
    brand_id,
    position: event.position,
    landing_page_id: met?.landing_page_id ?? (isLinked ? NO_PAGE : null),
    card_landing_page_ids: onCards.page_ids,
    active: active ?? null,
  };
  return [
    ...(met === null ? [] : [met.change]),
    ...onCards.changes,
    { kind: 'run', statement: 'move', row },
    { kind: 'refresh', statement: 'place_pages_of_ad', row: { ad_id } },
    { kind: 'refresh', statement: 'relist_pages_of_ad', row: { ad_id } },
  ];
};

const projectBrand = (event: BrandEvent): readonly Change[] => {
  const { brand_id } = event.data;
  const refresh: Change = { kind: 'refresh', statement: 'refresh_of_brand', row: { brand_id } };
  if (event.type === 'BrandRegistered') {
    const { domain } = event.data;
    return [
      ...brandReference(event),
      ...brandFacets(event),
      { kind: 'upsert', table: 'brand', key: { brand_id }, set: { domain } },
      refresh,
    ];
  }
  const facets = brandFacets(event);
  return [...brandReference(event), ...facets, ...(facets.length === 0 ? [] : [refresh])];
};

const projectPage = (event: LandingPageEvent): readonly Change[] => {
  const { landing_page_id, page_url, observed_at } = event.data;
  const met = recordPage(page_url, observed_at);
  if (met === null) return [];
  const set: Row =
    event.type === 'LandingPageScraped'
      ? { ...event.data.changes, scraped_at: observed_at }
      : {
          page_type: event.data.page_type,
          confidence: event.data.confidence,
          classified_at: observed_at,
        };
  return [
    met.change,
    { kind: 'upsert', table: 'page', key: { landing_page_id }, set },
    { kind: 'refresh', statement: 'refresh_page', row: { landing_page_id } },
  ];
};

/** Landing pages: destinations of ads, joined with what was scraped and classified. */
export const pages = projection<LandingPageEvent | AdLibraryEvent | BrandEvent>({
  name: 'pages',
  version: 6,
  prefixes: ['landingPage-', 'adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    applied_scan: recordAppliedScan,
    meet,
    move,
    refresh_page: refreshPage,
    place_pages_of_ad: placePagesOfAd,
    relist_pages_of_ad: relistPagesOfAd,
    refresh_of_brand: refreshPagesOfBrand,
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return projectBrand(event);
      case 'LandingPageScraped':
      case 'LandingPageClassified':
        return projectPage(event);
      case 'AdStarted':
        return moveAd(event, {
          ad_id: event.data.ad_id,
          link: event.data.content.link_url,
          cards: event.data.content.cards,
          active: true,
        });
      case 'AdRevised':
        return moveAd(event, { ad_id: event.data.ad_id, cards: event.data.changes.cards?.to });
      case 'AdDestinationChanged':
        return moveAd(event, { ad_id: event.data.ad_id, link: event.data.to_url });
      case 'AdDetailsObserved':
        return moveAd(event, {
          ad_id: event.data.ad_id,
          link: event.data.details.link_url,
          cards: event.data.details.cards,
        });
      case 'AdObservationCorrected':
      case 'AdAttributed':
      case 'ScanCorrected':
        return [];
      case 'AdsReworded':
        return event.data.ads.flatMap(({ ad_id, wording }) =>
          moveAd(event, { ad_id, link: wording.link_url, cards: wording.cards }),
        );
      case 'AdConfirmedInactive':
        return moveAd(event, { ad_id: event.data.ad_id, active: false });
      case 'AdReturned':
        return moveAd(event, { ad_id: event.data.ad_id, active: true });
      case 'AdsMissed':
      case 'AdsSeen':
        return [];
      case 'ScanRecorded':
        return [appliedScan(event)];
      default:
        event satisfies never;
        return [];
    }
  },
});
