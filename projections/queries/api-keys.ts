import type { ReadDatabase, PageRequest } from '#contracts/ports/read-database.ts';
import { ACTIVE_KEYS_MAX } from '#contracts/resources/workspace/api-key.ts';
import { joinObjects } from '#contracts/values/json-text.ts';
import { LARGEST_TEXT, cutPage } from '../sql/pages.ts';

export type ApiKeyRow = {
  readonly key_id: string;
  /** JSON text of the fields fixed at issue. */
  readonly issued: string;
  readonly issued_at: string;
  readonly revoked_at: string | null;
  readonly member_id: string;
  /** Empty when `sealed` holds it, `null` when the member is not projected yet. */
  readonly name: string | null;
  readonly sealed: string | null;
  readonly last_used_at: string | null;
};

/** Last uses are not events: authenticating processes write them in batches to a table of their own. */
const KEYS = `
  select k.key_id, k.issued, k.issued_at, k.revoked_at, k.member_id, m.name, m.sealed, u.last_used_at
  from api_keys.api_key k
  left join workspaces.member m using (workspace_id, member_id)
  left join access.key_use u using (workspace_id, key_id)
  where k.workspace_id = $1`;

const PAGE = `${KEYS} and (k.issued_at, k.key_id) < ($2, $3)
  order by k.issued_at desc, k.key_id desc limit $4`;

const BEFORE_NEWEST = [LARGEST_TEXT, LARGEST_TEXT] as const;

/** JSON text for lists and for replies to writes. */
export const apiKeyText = (
  row: Pick<ApiKeyRow, 'issued' | 'issued_at' | 'revoked_at' | 'member_id' | 'last_used_at'>,
  memberName: string | null,
): string => {
  const { issued, issued_at, revoked_at, member_id, last_used_at } = row;
  const status = revoked_at === null ? 'active' : 'revoked';
  const created_by = { id: member_id, name: memberName };
  return joinObjects(
    issued,
    JSON.stringify({ status, created_at: issued_at, created_by, last_used_at, revoked_at }),
  );
};

export const listApiKeys = async (db: ReadDatabase, workspaceId: string, page: PageRequest) => {
  const values = [workspaceId, ...(page.after ?? BEFORE_NEWEST), page.limit + 1];
  const found = await db.query<ApiKeyRow>({ sql: PAGE, values });
  return cutPage(found, page.limit, (last) => [last.issued_at, last.key_id] as const);
};

const OF_MEMBER = `${KEYS} and k.member_id = $2 and k.revoked_at is null
  order by k.issued_at desc, k.key_id desc limit ${ACTIVE_KEYS_MAX}`;

export const listActiveKeysOf = (
  db: ReadDatabase,
  workspaceId: string,
  memberId: string,
): Promise<readonly ApiKeyRow[]> => db.query<ApiKeyRow>({ sql: OF_MEMBER, values: [workspaceId, memberId] });

const ONE = `${KEYS} and k.key_id = $2`;

/** `null` when the read model shows no such key. */
export const findApiKey = async (
  db: ReadDatabase,
  workspaceId: string,
  keyId: string,
): Promise<ApiKeyRow | null> =>
  (await db.query<ApiKeyRow>({ sql: ONE, values: [workspaceId, keyId] }))[0] ?? null;

/** Names of keys by id, those of revoked ones too. */
export const readKeyNames = async (
  db: ReadDatabase,
  workspaceId: string,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await db.query<{ readonly key_id: string; readonly name: string }>({
    sql: `select key_id, issued::jsonb ->> 'name' as name from api_keys.api_key
      where workspace_id = $1 and key_id = any($2::text[])`,
    values: [workspaceId, keyIds],
  });
  return new Map(rows.map(({ key_id, name }) => [key_id, name]));
};
