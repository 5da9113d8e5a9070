import { isoTimeSql } from '#contracts/values/time.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import { TIER_HOURS } from '#contracts/values/codes.ts';
import { SLO_HOURS } from '#contracts/resources/workspace/tracked-brand.ts';
import { BRAND_REFERENCE_SQL, brandReference } from '../shared-tables/brand-reference.ts';
import { appliedScan, newestLookSql, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { isNoLook, scanKey } from '../shared-tables/observed-day.ts';
import { quoted } from '../sql/json.ts';
import { type Change, projection } from '../define-projection.ts';

/** A brand that was tracked but never scanned is due since it was tracked. */
const NEXT_DUE = `coalesce(b.scanned_at + case t.tier
  when 'daily' then interval '${TIER_HOURS.daily} hours'
  when 'weekly' then interval '${TIER_HOURS.weekly} hours'
  else interval '${TIER_HOURS.census} hours' end, t.tracked_at)`;

const ITEM = `'{"brand":' || s.reference || ',"cadence":"' || k.cadence || '","freshness":' || s.freshness
  || case k.cadence when 'daily' then ',"slo_hours":${SLO_HOURS.daily}' else ',"slo_hours":${SLO_HOURS.weekly}' end
  || ',"hours_since_reliable":'`;

/**
 * Rewrites all trackers only if freshness or name changed, because a brand may have thousands. `order by … limit 1`
 * reads one index entry where `min` might read all. Finds rows by `ctid` first, because a join may scan the whole
 * table.
 */
const COMPOSE = `
  with said as materialized (
    select i.brand_id, i.named, i.everyone, b.freshness as before, b.scanned_at, b.reliable_at, case when b.slug is not null then ${BRAND_REFERENCE_SQL} end as reference,
      case when b.scanned_at is not null or t.tier is not null then
        '{"as_of":' || ${quoted(isoTimeSql('b.scanned_at'))} || ',"last_reliable_at":' || ${quoted(isoTimeSql('b.reliable_at'))}
          || ',"next_due":' || ${quoted(isoTimeSql(NEXT_DUE))}
          || ',"freshness_tier":"' || coalesce(t.tier, 'census') || '"}' end as freshness
    from (
      select brand_id, array_agg(workspace_id) as named, bool_or(workspace_id is null) as everyone
      from :input i group by brand_id
    ) i left join brand b using (brand_id)
    cross join lateral (select
      (select cadence from tracker where brand_id = i.brand_id order by cadence limit 1) as tier,
      (select tracked_at from tracker where brand_id = i.brand_id order by tracked_at limit 1) as tracked_at
    ) t
  ), kept as (
    insert into brand as b (brand_id, freshness) select brand_id, freshness from said
    on conflict (brand_id) do update set freshness = excluded.freshness
    where b.freshness is distinct from excluded.freshness
  )
  update tracker k set scanned_at = s.scanned_at, counted_from = coalesce(s.reliable_at, k.tracked_at), item = ${ITEM}
  from said s
  where k.brand_id = s.brand_id and k.ctid = any(array(
    select place from said p cross join lateral (
      select ctid as place from tracker
      where brand_id = p.brand_id and (p.everyone or p.freshness is distinct from p.before)
      union all
      select ctid from tracker
      where brand_id = p.brand_id and workspace_id = any(p.named)
        and not (p.everyone or p.freshness is distinct from p.before)
      offset 0
    ) k
  )) and (k.scanned_at, k.counted_from, k.item)
    is distinct from (s.scanned_at, coalesce(s.reliable_at, k.tracked_at), ${ITEM})`;

const newestScanSql = (condition: string): string =>
  `(select s.observed_at from scan s where s.brand_id = i.brand_id and (${condition}) order by s.date desc, s.observed_at desc limit 1)`;

/** Scans of the brand and reliable scans count (rule 9), no other brand's scan that only shows one of its ads. */
export const freshness = projection<AdLibraryEvent | BrandEvent | TrackingEvent>({
  name: 'freshness',
  version: 10,
  prefixes: ['adLibrary-', 'brand-', 'tracking-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    newest_scan: {
      columns: { brand_id: 'uuid' },
      touches: ['scan', 'brand'],
      sql: `
        insert into brand (brand_id, scanned_at, reliable_at)
        select i.brand_id, ${newestScanSql('s.own or s.reliable')}, ${newestScanSql('s.reliable')} from :input i
        on conflict (brand_id) do update set scanned_at = excluded.scanned_at, reliable_at = excluded.reliable_at`,
    },
    // As `recordAppliedScan`, but in the table of brands, which saves the most frequent read a lookup.
    applied_scan: {
      columns: recordAppliedScan.columns,
      touches: ['brand'],
      sql: `
        with applied as materialized (${newestLookSql('scanned_at', 'position')})
        insert into brand as b (brand_id, applied_at) select brand_id, at from applied
        on conflict (brand_id) do update set applied_at = excluded.applied_at
        where b.applied_at is null or excluded.applied_at > b.applied_at
          or exists (select from applied a where a.brand_id = excluded.brand_id and a.resets)`,
    },
    compose: {
      columns: { brand_id: 'uuid', workspace_id: 'text' },
      touches: ['brand', 'tracker'],
      sql: COMPOSE,
    },
  },
  project: (event): readonly Change[] => {
    const { brand_id } = event.data;
    // Names both each time: a batch runs refreshes in the order of their first naming.
    const compose = (workspace_id: string | null): readonly Change[] => [
      { kind: 'refresh', statement: 'newest_scan', row: { brand_id } },
      { kind: 'refresh', statement: 'compose', row: { brand_id, workspace_id } },
    ];
    switch (event.type) {
      case 'BrandRegistered': {
        const set = { known_since: event.data.observed_at };
        return [
          ...brandReference(event),
          { kind: 'upsert', table: 'brand', key: { brand_id }, set },
          ...compose(null),
        ];
      }
      case 'BrandProfileChanged':
        return [...brandReference(event), ...compose(null)];
      case 'ScanRecorded': {
        const { observed_at, scanned_for, reliable, complete, collector, countries, pages } = event.data;
        const set = {
          observed_at,
          own: scanned_for === brand_id,
          reliable,
          no_look: false,
          complete,
          collector,
          countries,
          pages: pages.map(({ page_id }) => page_id),
        };
        return [
          appliedScan(event),
          { kind: 'upsert', table: 'scan', key: scanKey(event), set },
          ...compose(null),
        ];
      }
      case 'ScanCorrected': {
        const no_look = isNoLook(event);
        const set = { reliable: event.data.reliable && !no_look, no_look };
        return [
          { kind: 'update', table: 'scan', key: scanKey(event), set },
          appliedScan(event),
          ...compose(null),
        ];
      }
      case 'BrandTracked': {
        const { workspace_id, cadence, tracked_at } = event.data;
        const key = { brand_id, workspace_id };
        return [
          { kind: 'upsert', table: 'tracker', key, set: { cadence, tracked_at } },
          ...compose(workspace_id),
        ];
      }
      case 'TrackingCadenceChanged': {
        const { workspace_id, cadence } = event.data;
        return [
          { kind: 'update', table: 'tracker', key: { brand_id, workspace_id }, set: { cadence } },
          ...compose(workspace_id),
        ];
      }
      case 'BrandUntracked': {
        const { workspace_id } = event.data;
        return [
          { kind: 'delete', table: 'tracker', key: { brand_id, workspace_id } },
          ...compose(workspace_id),
        ];
      }
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
        return [];
    }
  },
});
