import { type PageRole, servableRole } from '#contracts/observations/social-page-link.ts';
import { utcDate } from '#contracts/values/time.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { StorefrontEvent, StorefrontScanRecorded } from '#contracts/events/corpus/storefront.ts';
import { recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection } from '../define-projection.ts';
import { type LibraryEvent, sumUpFrom } from './changes.ts';
import { projectAd } from './project-ads.ts';
import { markOccurrence, meet, putOccurrence, sumUpDay, sumUpLinks, sumUpMarked } from './statements.ts';

/** The role is `null` while the page is not linked. */
const linkOf = (
  event: Exclude<SocialPageEvent, { type: 'PageProfileObserved' }>,
): { readonly role: PageRole | null; readonly page_name: string | null } => {
  switch (event.type) {
    case 'PageLinked':
      return { role: event.data.role, page_name: event.data.page_name };
    case 'PageLinkObserved': {
      const { status, claim, confidence } = event.data;
      return { role: status === 'linked' ? servableRole(claim, confidence) : null, page_name: null };
    }
    case 'PageUnlinked':
    case 'PageLinkQuarantined':
      return { role: null, page_name: null };
  }
};

const projectPage = (event: SocialPageEvent): readonly Change[] => {
  if (event.type === 'PageProfileObserved') return [];
  const { brand_id, page_id: social_page_id, observed_at } = event.data;
  const key = { brand_id, social_page_id, observed_at };
  const set = { date: utcDate(observed_at), ...linkOf(event) };
  return [
    { kind: 'upsert', table: 'link', key, set },
    { kind: 'refresh', statement: 'sum_up_links', row: { brand_id, social_page_id } },
  ];
};

const compareCatalogue = ({ data }: StorefrontScanRecorded): readonly Change[] => {
  const { brand_id, observed_at, complete, baseline, late_arrival, totals } = data;
  if (!complete || baseline || late_arrival) return [];
  const { products, cheaper } = totals;
  const key = { brand_id, date: utcDate(observed_at), observed_at };
  return [
    { kind: 'upsert', table: 'catalogue', key, set: { products, cheaper } },
    sumUpFrom({ brand_id, observed_at }),
  ];
};

const projectStorefront = (event: StorefrontEvent): readonly Change[] => {
  switch (event.type) {
    case 'StorefrontScanRecorded':
      return compareCatalogue(event);
    case 'ProductsListed':
    case 'ProductsChanged':
    case 'ProductsMissed':
    case 'ProductsSeen':
    case 'ProductsDelisted':
      return [];
  }
};

export const signals = projection<AdLibraryEvent | BrandEvent | SocialPageEvent | StorefrontEvent>({
  name: 'signals',
  version: 13,
  prefixes: ['adLibrary-', 'brand-', 'socialPage-', 'storefront-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    applied_scan: recordAppliedScan,
    put_occurrence: putOccurrence,
    mark_occurrence: markOccurrence,
    meet,
    sum_up_day: sumUpDay,
    sum_up_marked: sumUpMarked,
    sum_up_links: sumUpLinks,
  },
  project: (event): readonly Change[] => {
    if (event.stream.startsWith('brand-')) return brandReference(event as RecordedEvent<BrandEvent>);
    if (event.stream.startsWith('socialPage-')) return projectPage(event as RecordedEvent<SocialPageEvent>);
    if (event.stream.startsWith('storefront-'))
      return projectStorefront(event as RecordedEvent<StorefrontEvent>);
    const changes = projectAd(event as LibraryEvent);
    return changes.length === 0 ? [] : [...changes, sumUpFrom((event as LibraryEvent).data)];
  },
});
