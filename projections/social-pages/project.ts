import type { AdLibraryFact } from '#contracts/events/corpus/ad-library.ts';
import type { BrandFact } from '#contracts/events/corpus/brand.ts';
import type { RecordedFact } from '#contracts/events/event.ts';
import type { SocialPageFact } from '#contracts/events/corpus/social-page.ts';
import { brandFacets } from '../shared-tables/brand-facets.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection, type Row } from '../define-projection.ts';
import { copyKeyOf } from './copy-fingerprint.ts';
import { statements } from './statements.ts';

const run = (statement: keyof typeof statements, row: Row): Change => ({ kind: 'run', statement, row });

const move = (fact: RecordedFact<AdLibraryFact>, ad_id: string, said: Row): Change =>
  run('move_ads', { ad_id, position: fact.position, brand_id: fact.data.brand_id, ...said });

const meetOnPage = (page_id: string | null): readonly Change[] =>
  page_id === null ? [] : [{ kind: 'refresh', statement: 'meet_on_page', row: { page_id } }];

const namePage = (page_id: string | null, page_name: string | null, named_at: string): readonly Change[] =>
  page_id === null || page_name === null ? [] : [run('name_page', { page_id, page_name, named_at })];

/** What is said of an ad's copy, and the copy itself where it is one. */
const copied = (body: string | null | undefined): { readonly said: Row; readonly changes: Change[] } => {
  if (body === undefined) return { said: {}, changes: [] };
  const copy_key = copyKeyOf(body);
  return {
    said: { says_copy: true, copy_key },
    changes: copy_key === null ? [] : [run('write_copy', { copy_key, body })],
  };
};

const recopied = (
  fact: RecordedFact<AdLibraryFact>,
  ad_id: string,
  body: string | null | undefined,
): readonly Change[] => {
  if (body === undefined) return [];
  const { said, changes } = copied(body);
  return [move(fact, ad_id, said), ...changes];
};

const ofLibrary = (fact: RecordedFact<AdLibraryFact>): readonly Change[] => {
  const { observed_at } = fact.data;
  switch (fact.type) {
    case 'AdStarted': {
      const { ad_id, page_id, page_name, content } = fact.data;
      const { said, changes } = copied(content.body);
      return [
        move(fact, ad_id, { page_id, live: true, ...said }),
        ...changes,
        ...namePage(page_id, page_name, observed_at),
        ...meetOnPage(page_id),
      ];
    }
    case 'AdRevised':
      return recopied(fact, fact.data.ad_id, fact.data.changes.body?.to);
    case 'AdDetailsObserved': {
      const { ad_id, page_id, page_name, details } = fact.data;
      const { said, changes } = copied(details.body);
      return [
        move(fact, ad_id, { page_id, ...said }),
        ...changes,
        ...namePage(page_id, page_name, observed_at),
        ...meetOnPage(page_id),
      ];
    }
    case 'AdsReworded':
      return fact.data.ads.flatMap(({ ad_id, wording }) => recopied(fact, ad_id, wording.body));
    case 'AdConfirmedInactive':
    case 'AdReturned': {
      const { ad_id, excerpt } = fact.data;
      return [move(fact, ad_id, { live: fact.type === 'AdReturned' }), ...meetOnPage(excerpt.page_id)];
    }
    case 'ScanRecorded':
      return [
        run('scan', { scanned_at: observed_at }),
        ...fact.data.pages.flatMap(({ page_id, page_name }) =>
          namePage(page_id === '' ? null : page_id, page_name, observed_at),
        ),
      ];
    case 'AdDestinationChanged':
    case 'AdsMissed':
    case 'AdsSeen':
      return [];
  }
};

const ofPage = (fact: RecordedFact<SocialPageFact>): readonly Change[] => {
  const { page_id, observed_at } = fact.data;
  switch (fact.type) {
    case 'PageLinked': {
      const { brand_id, role, confidence, page_name } = fact.data;
      return [
        { kind: 'upsert', table: 'link', key: { page_id, brand_id }, set: { role, confidence } },
        ...namePage(page_id, page_name, observed_at),
        ...meetOnPage(page_id),
      ];
    }
    case 'PageUnlinked':
    case 'PageLinkQuarantined':
      return [
        { kind: 'delete', table: 'link', key: { page_id, brand_id: fact.data.brand_id } },
        ...meetOnPage(page_id),
      ];
    case 'PageProfileObserved': {
      const { source, changes } = fact.data;
      return [
        { kind: 'upsert', table: 'profile', key: { page_id, source }, set: { observed_at, ...changes } },
        ...namePage(page_id, changes.page_name ?? null, observed_at),
      ];
    }
  }
};

const ofBrand = (fact: BrandFact): readonly Change[] => {
  const { brand_id } = fact.data;
  const changes = fact.type === 'BrandRegistered' ? fact.data : fact.data.changes;
  // Only public brands are met on pages, and counted in categories.
  const placed = changes.is_public !== undefined || changes.category_path !== undefined;
  const refreshes = (['meet_brand', 'categorize'] as const).map(
    (statement): Change => ({ kind: 'refresh', statement, row: { brand_id } }),
  );
  return [...brandReference(fact), ...brandFacets(fact), ...(placed ? refreshes : [])];
};

/**
 * Pages beside brands: which are linked, what sources say of them, whose ads run on them, which copy they run, and
 * which brands they share. Counts follow the life of ads; ads and links may come in either order.
 */
export const socialPages = projection<AdLibraryFact | SocialPageFact | BrandFact>({
  name: 'social-pages',
  version: 3,
  prefixes: ['adLibrary-', 'socialPage-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements,
  project: (fact): readonly Change[] => {
    switch (fact.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return ofBrand(fact);
      case 'PageLinked':
      case 'PageUnlinked':
      case 'PageLinkQuarantined':
      case 'PageProfileObserved':
        return ofPage(fact);
      default:
        return ofLibrary(fact);
    }
  },
});
