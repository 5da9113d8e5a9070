import { BEFORE_NEWEST, keysetPage } from '../sql/keyset-page.ts';
import { appendFields, arrayText } from '#contracts/values/json-text.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';

type Row = {
  readonly id: string;
  readonly name: string;
  readonly trigger: string;
  readonly brand_ids: readonly string[];
  readonly cadence: string;
  readonly email: boolean;
  readonly webhook_url: string | null;
  readonly chat_host: string | null;
  readonly enabled: boolean;
  readonly sends_on: readonly string[];
  readonly webhook_suspended: string | null;
  readonly chat_suspended: string | null;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
};

const PAGE = `
  select alert_id as id, name, trigger, brand_ids, cadence, email, webhook_url, chat_host, enabled,
    array_remove(array[
      case when enabled and email then 'email' end,
      case when enabled and webhook_url is not null and webhook_suspended is null then 'webhook' end,
      case when enabled and chat_host is not null and chat_suspended is null then 'chat' end
    ], null) as sends_on,
    webhook_suspended, chat_suspended, created_by, created_at, updated_at
  from alerts.alert
  where workspace_id = $1 and (created_at, alert_id) < ($2, $3::uuid)
  order by created_at desc, alert_id desc limit $4`;

const itemOf = ({ chat_host, webhook_suspended, chat_suspended, ...row }: Row): string => {
  const chat = chat_host === null ? null : { host: chat_host };
  const suspended = [webhook_suspended, chat_suspended].filter((one) => one !== null);
  return appendFields(JSON.stringify({ ...row, chat }), { suspended: arrayText(suspended) });
};

/** Lists the alert rules of a workspace, newest first. */
export const listAlerts = (db: ReadDatabase, workspaceId: string, page: PageRequest): Promise<Page> =>
  keysetPage<Row>(
    db,
    {
      sql: PAGE,
      values: [workspaceId],
      start: BEFORE_NEWEST,
      toItem: itemOf,
      cursorOf: (last) => [last.created_at, last.id],
    },
    page,
  );

const COUNT = 'select count(*)::int as rules from alerts.alert where workspace_id = $1';

export const countAlerts = async (db: ReadDatabase, workspaceId: string): Promise<number> =>
  (await db.query<{ rules: number }>({ sql: COUNT, values: [workspaceId] }))[0]?.rules ?? 0;
