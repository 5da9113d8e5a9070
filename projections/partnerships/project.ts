import type { AdDetailsObserved, AdLibraryEvent, AdStarted } from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

const update = (ad_id: string, set: Row): Change => ({ kind: 'update', table: 'ad', key: { ad_id }, set });

/**
 * Returns the change for a running ad seen with a partner, for the first time or with another one than
 * before.
 */
const namePartner = (
  { data, position }: RecordedEvent<AdStarted | AdDetailsObserved>,
  partner: BrandedContent,
): Change => ({
  kind: 'run',
  statement: 'name_partner',
  row: {
    ad_id: data.ad_id,
    position,
    brand_id: data.brand_id,
    social_page_id: data.page_id,
    page_name: data.page_name,
    partner_id: partner.page_id,
    partner_name: partner.page_name,
    seen_at: data.observed_at,
  },
});

/** Branded content: ads that name a partner, and how long they ran. Other ads are not stored here. */
export const partnerships = projection<AdLibraryEvent | SocialPageEvent>({
  name: 'partnerships',
  version: 3,
  prefixes: ['adLibrary-', 'socialPage-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    name_partner: {
      columns: {
        ad_id: 'text',
        position: 'bigint',
        brand_id: 'uuid',
        social_page_id: 'text',
        page_name: 'text',
        partner_id: 'text',
        partner_name: 'text',
        seen_at: 'timestamptz',
      },
      touches: ['ad'],
      sql: `
        insert into ad (ad_id, brand_id, social_page_id, page_name, partner_id, partner_name, live, first_seen_at, last_seen_at)
        select distinct on (ad_id) ad_id, brand_id, social_page_id, page_name, partner_id, partner_name, true,
          min(seen_at) over (partition by ad_id), seen_at
        from :input i order by ad_id, position desc
        on conflict (ad_id) do update set social_page_id = excluded.social_page_id, page_name = excluded.page_name,
          partner_id = excluded.partner_id, partner_name = excluded.partner_name, live = true,
          last_seen_at = excluded.last_seen_at`,
    },
    applied_scan: recordAppliedScan,
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'AdStarted': {
        const { branded_content } = event.data;
        return branded_content ? [namePartner(event, branded_content)] : [];
      }
      case 'AdDetailsObserved': {
        const { ad_id, page_id, page_name, branded_content } = event.data;
        return branded_content
          ? [namePartner(event, branded_content)]
          : [update(ad_id, { social_page_id: page_id, page_name })];
      }
      case 'AdConfirmedInactive': {
        const { ad_id, stopped_on, last_seen_at } = event.data;
        return [update(ad_id, { live: false, last_seen_at: stopped_on ?? last_seen_at })];
      }
      case 'AdReturned':
        return [update(event.data.ad_id, { live: true, last_seen_at: event.data.observed_at })];
      case 'ScanRecorded':
        return [appliedScan(event)];
      case 'PageLinked': {
        const { page_id: social_page_id, brand_id, role } = event.data;
        return [{ kind: 'upsert', table: 'link', key: { social_page_id, brand_id }, set: { role } }];
      }
      case 'PageUnlinked':
      case 'PageLinkQuarantined': {
        const { page_id: social_page_id, brand_id } = event.data;
        return [{ kind: 'delete', table: 'link', key: { social_page_id, brand_id } }];
      }
      case 'AdRevised':
      case 'AdDestinationChanged':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsReworded':
      case 'AdObservationCorrected':
      case 'AdAttributed':
      case 'ScanCorrected':
      case 'PageProfileObserved':
        return [];
      default:
        event satisfies never;
        return [];
    }
  },
});
