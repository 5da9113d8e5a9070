import { alertDeliveries } from '#projections/alert-deliveries/project.ts';
import { alerts } from '#projections/alerts/project.ts';
import { apiKeys } from '#projections/api-keys/project.ts';
import { briefs } from '#projections/briefs/project.ts';
import { collections } from '#projections/collections/project.ts';
import { notes } from '#projections/notes/project.ts';
import { reports } from '#projections/reports/project.ts';
import { saved } from '#projections/saved/project.ts';
import { tracking } from '#projections/tracking/project.ts';
import { workspaces } from '#projections/workspaces/project.ts';
import { BRAND_REFERENCES, brandsWith, type Fill } from './fill.ts';
import { scaled } from '../runner/bench.ts';

/** Workspace on the largest plan, with all slots in use. */
export const WORKSPACE_ID = 'ws_bench00000000001';
export const MEMBER_ID = 'mem_bench0000000001';
const TRACKED = scaled(5_000);
const SAVED = scaled(20_000);
const NOTES = scaled(20_000);
const COLLECTIONS = scaled(3_000);
const API_KEYS = scaled(3_000);
const REPORTS = scaled(3_000);
const WEEKS_OF_BRIEFS = 104;
const ALERTS = 200;
const DELIVERIES = scaled(50_000);

const ago = (step: string): string => `bench.iso(now() - k * interval '${step}')`;

export const TRACKED_BRANDS = `
  select '${WORKSPACE_ID}' as workspace_id, brand_id, case when n % 2 = 0 then 'daily' else 'weekly' end as cadence,
    now() - n * interval '3 minutes' as tracked_at
  from bench.brand where n % 3 = 1 order by n limit ${TRACKED}`;

const fillTracking: Fill = {
  projection: tracking,
  sql: [
    `insert into tracked_brand (workspace_id, brand_id, cadence, tracked_at)
      select workspace_id, brand_id, cadence, bench.iso(tracked_at) from (${TRACKED_BRANDS}) t`,
    `insert into tracked_brand (workspace_id, brand_id, cadence, tracked_at)
      select 'ws_' || w, brand_id, 'weekly', bench.iso(now() - n * interval '3 minutes')
      from bench.brand, generate_series(1, 40) w where n between w * 50 and w * 50 + 500`,
  ],
};

const fillWorkspaces: Fill = {
  projection: workspaces,
  sql: [
    `insert into workspace (workspace_id, name, plan, created_at) values ('${WORKSPACE_ID}', 'bench', 'enterprise', bench.iso(now()))`,
    `insert into member (workspace_id, member_id, name, role, added_at) values ('${WORKSPACE_ID}', '${MEMBER_ID}', 'Ada', 'owner', bench.iso(now()))`,
  ],
};

const fillApiKeys: Fill = {
  projection: apiKeys,
  sql: [
    `insert into api_key (workspace_id, key_id, issued_at, member_id, issued, revoked_at)
      select '${WORKSPACE_ID}', 'key_' || lpad(k::text, 16, '0'), ${ago('7 minutes')}, '${MEMBER_ID}',
        '{"id":"key_' || lpad(k::text, 16, '0') || '","name":"Key ' || k || '","last_four":"abcd","scopes":["brands:read","ads:read"]}',
        case when k % 3 = 0 then ${ago('6 minutes')} end
      from generate_series(1, ${API_KEYS}) k`,
  ],
};

const fillSaved: Fill = {
  projection: saved,
  sql: [
    `insert into item (workspace_id, item_type, item_key, created_by, created_at)
      select '${WORKSPACE_ID}', case when k % 5 = 0 then 'ad' else 'brand' end,
        case when k % 5 = 0 then (700000000000000 + k)::text else bench.id('brand', k)::text end, '${MEMBER_ID}', ${ago('2 minutes')}
      from generate_series(1, ${SAVED}) k`,
  ],
};

const fillNotes: Fill = {
  projection: notes,
  sql: [
    `insert into note (workspace_id, note_id, subject_type, subject_key, body, created_by, created_at, updated_at)
      select '${WORKSPACE_ID}', bench.id('note', k), 'brand', bench.id('brand', 1 + floor(2000 * power(bench.u(k, 301), 3))::int)::text,
        c.body, '${MEMBER_ID}', ${ago('3 minutes')}, ${ago('2 minutes')}
      from generate_series(1, ${NOTES}) k join bench.copy c on c.n = k`,
  ],
};

const fillCollections: Fill = {
  projection: collections,
  sql: [
    `insert into collection (workspace_id, collection_id, name, description, parent_id, visibility, editors, created_by, created_at, updated_at, item_count, items)
      select '${WORKSPACE_ID}', bench.id('collection', k), 'Collection ' || k, null, case when k > 300 then bench.id('collection', k % 300) end,
        'workspace', '{}', '${MEMBER_ID}', ${ago('9 minutes')}, ${ago('5 minutes')}, 40, c.items
      from generate_series(1, ${COLLECTIONS}) k cross join lateral (
        select '[' || string_agg('{"item_type":"brand","item_key":"' || bench.id('brand', k * 40 + i) || '","created_at":"' || ${ago('9 minutes')} || '"}', ',') || ']' as items
        from generate_series(1, 20) i
      ) c`,
  ],
};

const fillReports: Fill = {
  projection: reports,
  sql: [
    `insert into report (workspace_id, report_id, status, all_tracked, brands, types, from_date, to_date, requested_at, started_at, finished_at, bytes, rows, sha256, object_key)
      select '${WORKSPACE_ID}', bench.id('report', k), 'ready', true, 5000, '{ad_started}', '2026-10-01', '2026-10-31', ${ago('1 hour')},
        ${ago('59 minutes')}, ${ago('58 minutes')}, 123456, 1234, md5(k::text) || md5(k::text), 'reports/' || k
      from generate_series(1, ${REPORTS}) k`,
  ],
};

const fillBriefs: Fill = {
  projection: briefs,
  sql: [
    brandsWith(BRAND_REFERENCES),
    `insert into brief (workspace_id, brief_id, week, from_date, to_date, brands, ads_started, ads_stopped, destinations_changed, counts, notable, prepared_at)
      select '${WORKSPACE_ID}', bench.id('brief', k), to_char(current_date - k * 7, 'IYYY-"W"IW'), (current_date - k * 7)::text, (current_date - k * 7 + 6)::text,
        5000, 900, 400, 30, (select jsonb_agg(jsonb_build_object('brand_id', bench.id('brand', i), 'ads_started', 50 - i, 'ads_stopped', 2, 'destinations_changed', 1)) from generate_series(1, 40) i),
        '[]', ${ago('7 days')}
      from generate_series(1, ${WEEKS_OF_BRIEFS}) k`,
  ],
};

const fillAlerts: Fill = {
  projection: alerts,
  sql: [
    `insert into alert (workspace_id, alert_id, name, trigger, brand_ids, cadence, email, enabled, created_by, created_at, updated_at)
      select '${WORKSPACE_ID}', bench.id('alert', k), 'Rule ' || k, 'ad_started', array[bench.id('brand', k)::text], 'instant', true, true, '${MEMBER_ID}',
        ${ago('1 hour')}, ${ago('1 hour')} from generate_series(1, ${ALERTS}) k`,
  ],
};

const fillAlertDeliveries: Fill = {
  projection: alertDeliveries,
  sql: [
    `insert into delivery (workspace_id, delivery_id, alert_id, channel, kind, items_total, created_at)
      select '${WORKSPACE_ID}', bench.id('delivery', k), bench.id('alert', 1 + k % ${ALERTS}), 'webhook', 'instant', 3, ${ago('1 minute')}
      from generate_series(1, ${DELIVERIES}) k`,
    `insert into outcome (workspace_id, delivery_id, alert_id, status, finished_at)
      select workspace_id, delivery_id, alert_id, 'delivered', created_at from delivery`,
    `insert into attempt (workspace_id, delivery_id, alert_id, revision, doc)
      select workspace_id, delivery_id, alert_id, 1, '{"at":"' || created_at || '","status":200,"duration_ms":41,"error":null}' from delivery`,
  ],
};

export const FILLS_OF_WORKSPACE: readonly Fill[] = [
  fillTracking,
  fillWorkspaces,
  fillApiKeys,
  fillSaved,
  fillNotes,
  fillCollections,
  fillReports,
  fillBriefs,
  fillAlerts,
  fillAlertDeliveries,
];
