import { BEFORE_NEWEST, pageOfRows } from '../sql/pages.ts';
import { AlertChannel } from '#contracts/values/alerts.ts';
import { appendFields, arrayText } from '#contracts/values/json-text.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';

export type AlertRow = {
  readonly id: string;
  readonly name: string;
  readonly trigger: string;
  readonly brand_ids: readonly string[];
  readonly cadence: string;
  readonly email: boolean;
  readonly webhook_url: string | null;
  readonly chat_host: string | null;
  readonly enabled: boolean;
  readonly threshold: number | null;
  readonly quiet_hours: string | null;
  readonly max_per_day: number | null;
  readonly webhook_suspended: string | null;
  readonly chat_suspended: string | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
};

const COLUMNS = `alert_id as id, name, trigger, brand_ids, cadence, email, webhook_url, chat_host, enabled,
    threshold, quiet_hours, max_per_day, webhook_suspended, chat_suspended, created_by, created_at, updated_at`;

const PAGE = `
  select ${COLUMNS} from alerts.alert
  where workspace_id = $1 and (created_at, alert_id) < ($2, $3::uuid)
  order by created_at desc, alert_id desc limit $4`;

/** Omits suspended channels; a disabled rule has none. */
const sendingChannels = (row: AlertRow): readonly AlertChannel[] => {
  if (!row.enabled) return [];
  const sends: Readonly<Record<AlertChannel, boolean>> = {
    email: row.email,
    webhook: row.webhook_url !== null && row.webhook_suspended === null,
    chat: row.chat_host !== null && row.chat_suspended === null,
  };
  return AlertChannel.options.filter((channel) => sends[channel]);
};

/** JSON text for lists and for replies to writes. */
export const alertText = (row: AlertRow): string => {
  const { id, name, trigger, brand_ids, cadence, email, webhook_url, enabled } = row;
  const { created_by, created_at, updated_at } = row;
  const text = JSON.stringify({
    id,
    name,
    trigger,
    brand_ids,
    cadence,
    email,
    webhook_url,
    enabled,
    sends_on: sendingChannels(row),
    created_by,
    created_at,
    updated_at,
    chat: row.chat_host === null ? null : { host: row.chat_host },
  });
  const suspended = [row.webhook_suspended, row.chat_suspended].filter((one) => one !== null);
  const { threshold, quiet_hours, max_per_day } = row;
  return appendFields(text, {
    suspended: arrayText(suspended),
    ...(threshold === null ? {} : { threshold: String(threshold) }),
    ...(quiet_hours === null ? {} : { quiet_hours }),
    ...(max_per_day === null ? {} : { max_per_day: String(max_per_day) }),
  });
};

export const listAlerts = async (db: ReadDatabase, workspaceId: string, page: PageRequest): Promise<Page> => {
  const values = [workspaceId, ...(page.after ?? BEFORE_NEWEST), page.limit + 1];
  const rows = await db.query<AlertRow>({ sql: PAGE, values });
  return pageOfRows(rows, page.limit, { toItem: alertText, cursorOf: (last) => [last.created_at, last.id] });
};

const ONE = `select ${COLUMNS} from alerts.alert where workspace_id = $1 and alert_id = $2`;

/** `null` when there is none. */
export const findAlert = async (
  db: ReadDatabase,
  workspaceId: string,
  alertId: string,
): Promise<string | null> => {
  const [row] = await db.query<AlertRow>({ sql: ONE, values: [workspaceId, alertId] });
  return row ? alertText(row) : null;
};

const COUNT = 'select count(*)::int as rules from alerts.alert where workspace_id = $1';

export const countAlerts = async (db: ReadDatabase, workspaceId: string): Promise<number> =>
  (await db.query<{ rules: number }>({ sql: COUNT, values: [workspaceId] }))[0]?.rules ?? 0;
