import { hash } from 'node:crypto';
import type { AdRecord } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import { appliedScan } from '../shared-tables/applied-scan.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, type Row, projection } from '../define-projection.ts';
import { statements } from './statements.ts';

/** Placeholder that a catalogue fills with each product's own words. */
const MACRO = /\{\{[^{}]*\}\}/;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;
/** The key is a uuid. */
const KEY_DIGITS = 32;

/**
 * Equal for the same words in the same order, regardless of case, punctuation, emoji and line breaks. `null` for a text
 * without words, and for a template filled per product.
 */
export const copyKeyOf = (body: string | null | undefined): string | null => {
  if (!body || MACRO.test(body)) return null;
  const words = body.normalize('NFKC').toLowerCase().replaceAll(BETWEEN_WORDS, ' ').trim();
  return words === '' ? null : hash('sha256', words, 'hex').slice(0, KEY_DIGITS);
};

const run = (statement: keyof typeof statements, row: Row): Change => ({ kind: 'run', statement, row });

const move = (event: RecordedEvent<AdLibraryEvent>, ad_id: string, columns: Row): Change =>
  run('move_ads', {
    ad_id,
    position: event.position,
    is_full: false,
    brand_id: event.data.brand_id,
    ...columns,
  });

const meetOnPage = (social_page_id: string | null): readonly Change[] =>
  social_page_id === null ? [] : [{ kind: 'refresh', statement: 'meet_on_page', row: { social_page_id } }];

const namePage = (
  social_page_id: string | null,
  page_name: string | null,
  named_at: string,
): readonly Change[] =>
  social_page_id === null || page_name === null
    ? []
    : [run('name_page', { social_page_id, page_name, named_at })];

/** Stores no copy if the key is `null`. */
const copyChanges = (
  body: string | null | undefined,
): { readonly copyColumns: Row; readonly changes: Change[] } => {
  if (body === undefined) return { copyColumns: {}, changes: [] };
  const copy_key = copyKeyOf(body);
  return {
    copyColumns: { says_copy: true, copy_key },
    changes: copy_key === null ? [] : [run('write_copy', { copy_key, body })],
  };
};

const reviseCopy = (
  event: RecordedEvent<AdLibraryEvent>,
  ad_id: string,
  body: string | null | undefined,
): readonly Change[] => {
  if (body === undefined) return [];
  const { copyColumns, changes } = copyChanges(body);
  return [move(event, ad_id, copyColumns), ...changes];
};

type FullAd = {
  readonly ad_id: string;
  readonly page_id: string | null;
  readonly live: boolean;
  readonly body: string | null;
};

const replaceAd = (
  event: RecordedEvent<AdLibraryEvent>,
  { ad_id, page_id, live, body }: FullAd,
): readonly Change[] => {
  const { copyColumns, changes } = copyChanges(body);
  return [
    move(event, ad_id, { is_full: true, social_page_id: page_id, live, ...copyColumns }),
    ...changes,
    ...meetOnPage(page_id),
  ];
};

const replaceAdByRecord = (event: RecordedEvent<AdLibraryEvent>, ad: AdRecord): readonly Change[] =>
  replaceAd(event, { ...ad, live: ad.status !== 'inactive', body: ad.content.body });

const projectAd = (event: RecordedEvent<AdLibraryEvent>): readonly Change[] => {
  const { observed_at } = event.data;
  switch (event.type) {
    case 'AdStarted': {
      const { ad_id, page_id, page_name, content } = event.data;
      return [
        ...replaceAd(event, { ad_id, page_id, live: true, body: content.body }),
        ...namePage(page_id, page_name, observed_at),
      ];
    }
    case 'AdRevised':
      return reviseCopy(event, event.data.ad_id, event.data.changes.body?.to);
    case 'AdDetailsObserved': {
      const { ad_id, page_id: social_page_id, page_name, details } = event.data;
      const { copyColumns, changes } = copyChanges(details.body);
      return [
        move(event, ad_id, { social_page_id, ...copyColumns }),
        ...changes,
        ...namePage(social_page_id, page_name, observed_at),
        ...meetOnPage(social_page_id),
      ];
    }
    case 'AdObservationCorrected': {
      const { before, after } = event.data;
      const { page_id, page_name } = after;
      // A name known before comes from another scan, and has that scan's time.
      const isNamedNow = before === null || page_id !== before.page_id || page_name !== before.page_name;
      return [
        ...replaceAdByRecord(event, after),
        ...(isNamedNow ? namePage(page_id, page_name, observed_at) : []),
        ...(before === null || before.page_id === page_id ? [] : meetOnPage(before.page_id)),
      ];
    }
    case 'AdAttributed': {
      const { brand_id, to_brand_id, ad } = event.data;
      // The stream of the earlier brand has the event too. Only one of the two may replace the ad.
      return brand_id === to_brand_id ? replaceAdByRecord(event, ad) : [];
    }
    case 'ScanCorrected':
      return [appliedScan(event)];
    case 'AdsReworded':
      return event.data.ads.flatMap(({ ad_id, wording }) => reviseCopy(event, ad_id, wording.body));
    case 'AdConfirmedInactive':
    case 'AdReturned': {
      const { ad_id, excerpt } = event.data;
      return [move(event, ad_id, { live: event.type === 'AdReturned' }), ...meetOnPage(excerpt.page_id)];
    }
    case 'ScanRecorded':
      return [
        appliedScan(event),
        ...event.data.pages.flatMap(({ page_id, page_name }) =>
          namePage(page_id === '' ? null : page_id, page_name, observed_at),
        ),
      ];
    case 'AdDestinationChanged':
    case 'AdsMissed':
    case 'AdsSeen':
    case 'AdsStillInactive':
      return [];
  }
};

const projectPage = (event: RecordedEvent<SocialPageEvent>): readonly Change[] => {
  const { page_id: social_page_id, observed_at } = event.data;
  switch (event.type) {
    case 'PageLinked': {
      const { brand_id, role, confidence, page_name, named_at } = event.data;
      return [
        { kind: 'upsert', table: 'link', key: { social_page_id, brand_id }, set: { role, confidence } },
        // The event of the other observation named the page already.
        ...namePage(social_page_id, named_at === undefined ? page_name : null, observed_at),
        ...meetOnPage(social_page_id),
      ];
    }
    case 'PageUnlinked':
    case 'PageLinkQuarantined':
      return [
        { kind: 'delete', table: 'link', key: { social_page_id, brand_id: event.data.brand_id } },
        ...meetOnPage(social_page_id),
      ];
    case 'PageLinkObserved': {
      const { status, page_name = null } = event.data;
      return status === 'linked' ? namePage(social_page_id, page_name, observed_at) : [];
    }
    case 'PageProfileObserved': {
      const { source, changes } = event.data;
      return [
        ...(Object.keys(changes).length === 0
          ? []
          : [{ kind: 'upsert', table: 'profile', key: { social_page_id, source }, set: changes } as const]),
        run('profile_time', { social_page_id, source, observed_at }),
        ...namePage(social_page_id, changes.page_name ?? null, observed_at),
      ];
    }
  }
};

const projectBrand = (event: BrandEvent): readonly Change[] => {
  const { brand_id } = event.data;
  const changes = event.type === 'BrandRegistered' ? event.data : event.data.changes;
  // Only public brands are members of pages and counted in categories.
  const placed = changes.is_public !== undefined || changes.category_path !== undefined;
  const refreshes = (['meet_brand', 'categorize'] as const).map(
    (statement): Change => ({ kind: 'refresh', statement, row: { brand_id } }),
  );
  return [...brandReference(event), ...brandFacets(event), ...(placed ? refreshes : [])];
};

/**
 * Links, profiles by source, brands per page, their copy and shared pages. Ads and links may arrive in either order.
 */
export const socialPages = projection<AdLibraryEvent | SocialPageEvent | BrandEvent>({
  name: 'social-pages',
  version: 9,
  prefixes: ['adLibrary-', 'socialPage-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements,
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return projectBrand(event);
      case 'PageLinked':
      case 'PageUnlinked':
      case 'PageLinkQuarantined':
      case 'PageLinkObserved':
      case 'PageProfileObserved':
        return projectPage(event);
      case 'AdStarted':
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdDestinationChanged':
      case 'AdConfirmedInactive':
      case 'AdReturned':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
      case 'AdsReworded':
      case 'AdObservationCorrected':
      case 'AdAttributed':
      case 'ScanCorrected':
      case 'ScanRecorded':
        return projectAd(event);
    }
  },
});
