import { BEFORE_NEWEST, SMALLEST_UUID, pageOfRows } from '../sql/pages.ts';
import { appendFields } from '#contracts/values/json-text.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import type { AlertChannel, DeliveryKind, DeliveryStatus } from '#contracts/values/alerts.ts';
import { type Fragment, raw, sql } from '../sql/sql-tag.ts';
import { ATTEMPTS_SHOWN_MAX } from '#contracts/resources/workspace/alert-delivery.ts';

type Row = {
  readonly id: string;
  readonly alert_id: string;
  readonly channel: string;
  readonly kind: string;
  readonly status: string;
  readonly items_total: number;
  readonly created_at: string;
  readonly next_attempt_at: string | null;
  readonly finished_at: string | null;
  readonly reason: string | null;
  readonly attempts_total: number;
  readonly attempts: string;
};

const ATTEMPTS = raw(`
  select count(*)::int as attempts_total,
    '[' || coalesce(string_agg(doc, ',' order by revision) filter (where back <= ${ATTEMPTS_SHOWN_MAX}), '') || ']'
      as attempts
  from (
    select doc, revision, row_number() over (order by revision desc) as back from alert_deliveries.attempt t
    where t.workspace_id = d.workspace_id and t.delivery_id = d.delivery_id
  ) numbered`);

const itemOf = ({ attempts, ...row }: Row): string => appendFields(JSON.stringify(row), { attempts });

/** The index finds the page, so attempts are read for it only. Counts are doubles: drivers return bigint as text. */
const readPage = async (db: ReadDatabase, found: Fragment, { limit }: PageRequest): Promise<Page> => {
  const rows = await db.query<Row>(sql.unsafe`
    select d.delivery_id as id, d.alert_id, d.channel, d.kind, d.status,
      d.items_total::float8 as items_total, d.created_at, o.next_attempt_at, o.finished_at, o.reason,
      a.attempts_total, a.attempts
    from (${found} order by created_at desc, delivery_id desc limit ${limit + 1}) d
    left join alert_deliveries.outcome o using (workspace_id, delivery_id)
    cross join lateral (${ATTEMPTS}) a
    order by d.created_at desc, d.delivery_id desc`);
  return pageOfRows(rows, limit, { toItem: itemOf, cursorOf: (last) => [last.created_at, last.id] });
};

export const listAlertDeliveries = (
  db: ReadDatabase,
  workspaceId: string,
  alertId: string | undefined,
  page: PageRequest,
): Promise<Page> => {
  const where = sql.and([
    sql.fragment`workspace_id = ${workspaceId}`,
    sql.fragment`(created_at, delivery_id) < (${sql.list(page.after ?? BEFORE_NEWEST)})`,
    alertId !== undefined && sql.fragment`alert_id = ${alertId}`,
  ]);
  return readPage(db, sql.fragment`select * from alert_deliveries.delivery where ${where}`, page);
};

/** Times are ISO text with milliseconds. `since` is included, `until` is not. */
export type DeliveryFilter = {
  readonly workspaceId: string;
  readonly statuses: readonly DeliveryStatus[];
  readonly channels: readonly AlertChannel[];
  readonly alertId?: string;
  readonly since?: string;
  readonly until?: string;
};

/** Reads the newest of each status and channel from the index, so that rare ones cost as much as frequent ones. */
export const searchAlertDeliveries = (
  db: ReadDatabase,
  { workspaceId, statuses, channels, alertId, since, until }: DeliveryFilter,
  page: PageRequest,
): Promise<Page> => {
  // One upper limit: with two, the scan of the index may start at the other.
  const before = page.after ?? (until === undefined ? BEFORE_NEWEST : [until, SMALLEST_UUID]);
  const where = sql.and([
    sql.fragment`workspace_id = ${workspaceId} and status = s.status and channel = c.channel`,
    sql.fragment`(created_at, delivery_id) < (${sql.list(before)})`,
    alertId !== undefined && sql.fragment`alert_id = ${alertId}`,
    since !== undefined && sql.fragment`created_at >= ${since}`,
  ]);
  const found = sql.fragment`
    select f.* from unnest(${sql.array(statuses, 'text')}) s (status)
    cross join unnest(${sql.array(channels, 'text')}) c (channel)
    cross join lateral (
      select * from alert_deliveries.delivery where ${where}
      order by created_at desc, delivery_id desc limit ${page.limit + 1}
    ) f`;
  return readPage(db, found, page);
};

export type KnownDelivery = {
  readonly alert_id: string;
  readonly kind: DeliveryKind;
  readonly status: DeliveryStatus;
};

const FIND = `
  select alert_id, kind, status from alert_deliveries.delivery where workspace_id = $1 and delivery_id = $2`;

/** `null` when the workspace has no such delivery. */
export const findAlertDelivery = async (
  db: ReadDatabase,
  workspaceId: string,
  deliveryId: string,
): Promise<KnownDelivery | null> =>
  (await db.query<KnownDelivery>({ sql: FIND, values: [workspaceId, deliveryId] }))[0] ?? null;

const FAILED_SINCE = `
  select o.delivery_id from alert_deliveries.outcome o join alert_deliveries.delivery d using (workspace_id, delivery_id)
  where o.workspace_id = $1 and o.status = 'failed' and o.finished_at >= $2 and d.kind <> 'test'
  order by o.finished_at, o.delivery_id limit $3`;

/** Ids, those that were given up first before others. `since`: ISO text with milliseconds. */
export const listFailedSince = async (
  db: ReadDatabase,
  workspaceId: string,
  since: string,
  limit: number,
): Promise<readonly string[]> => {
  const values = [workspaceId, since, limit];
  const rows = await db.query<{ delivery_id: string }>({ sql: FAILED_SINCE, values });
  return rows.map(({ delivery_id }) => delivery_id);
};
