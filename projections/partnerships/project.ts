import type { AdRecord } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdDetailsObserved, AdLibraryEvent, AdStarted } from '#contracts/events/corpus/ad-library.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import type { SocialPageEvent } from '#contracts/events/corpus/social-page.ts';
import type { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

const update = ({ position }: RecordedEvent<AdLibraryEvent>, ad_id: string, set: Row): Change => ({
  kind: 'update',
  table: 'ad',
  key: { ad_id },
  set,
  precedence: { column: 'full_at', position },
});

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
    live: true,
    named_at: data.observed_at,
    seen_at: data.observed_at,
  },
});

/** `named_at`: `null` without a time of the partner. No event removes a partner, so an ad without one has no row. */
const replaceAd = (
  event: RecordedEvent<AdLibraryEvent>,
  ad: AdRecord,
  named_at: string | null,
): readonly Change[] => {
  const { branded_content: partner } = ad;
  if (!partner) return [];
  const live = ad.status !== 'inactive';
  return [
    {
      kind: 'run',
      statement: 'name_partner',
      row: {
        ad_id: ad.ad_id,
        position: event.position,
        brand_id: event.data.brand_id,
        social_page_id: ad.page_id,
        page_name: ad.page_name,
        partner_id: partner.page_id,
        partner_name: partner.page_name,
        live,
        named_at,
        seen_at: live ? ad.seen_at : (ad.stopped_on ?? ad.seen_at),
      },
    },
  ];
};

const NAMED = 'full_at,brand_id,social_page_id,page_name,partner_id,partner_name,live,last_seen_at';
const NAMED_VALUES = 'position,brand_id,social_page_id,page_name,partner_id,partner_name,live,seen_at';

export const partnerships = projection<AdLibraryEvent | SocialPageEvent>({
  name: 'partnerships',
  version: 6,
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
        live: 'boolean',
        named_at: 'timestamptz',
        seen_at: 'timestamptz',
      },
      touches: ['ad'],
      rowsBy: { ad: ['ad_id'] },
      sql: `
        with newest as (
          select distinct on (ad_id) *, min(named_at) over (partition by ad_id) as first_seen_at
          from :input i order by ad_id, position desc
        ), first as (
          update ad a set first_seen_at = n.first_seen_at from newest n
          where a.ad_id = n.ad_id and a.full_at >= n.position
            and (a.first_seen_at is null or n.first_seen_at < a.first_seen_at)
        )
        insert into ad as a (ad_id, ${NAMED}, first_seen_at)
        select ad_id, ${NAMED_VALUES}, first_seen_at from newest
        where not exists (select from ad o where o.ad_id = newest.ad_id and o.full_at >= newest.position)
        on conflict (ad_id) do update set first_seen_at = least(a.first_seen_at, excluded.first_seen_at),
          ${NAMED.split(',')
            .map((column) => `${column} = excluded.${column}`)
            .join()}`,
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
          : [update(event, ad_id, { social_page_id: page_id, page_name })];
      }
      case 'AdConfirmedInactive': {
        const { ad_id, stopped_on, last_seen_at } = event.data;
        return [update(event, ad_id, { live: false, last_seen_at: stopped_on ?? last_seen_at })];
      }
      case 'AdReturned':
        return [update(event, event.data.ad_id, { live: true, last_seen_at: event.data.observed_at })];
      case 'ScanRecorded':
      case 'ScanCorrected':
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
      case 'AdObservationCorrected':
        return replaceAd(event, event.data.after, event.data.observed_at);
      case 'AdAttributed': {
        const { brand_id, to_brand_id, ad } = event.data;
        // The stream of the earlier brand has the event too. Only one of the two may replace the ad.
        return brand_id === to_brand_id ? replaceAd(event, ad, null) : [];
      }
      case 'AdRevised':
      case 'AdDestinationChanged':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
      case 'AdsReworded':
      case 'PageLinkObserved':
      case 'PageProfileObserved':
        return [];
    }
  },
});
