import { cutPage, LARGEST_TEXT, readKeysetRows } from '../sql/keyset-page.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { quoted } from '../sql/json-text.ts';

/**
 * A page of API keys in one statement: the issued key, the member who issued it, and its last use. Last uses are not events:
 * the processes that authenticate requests write them in batches to a table of their own. SQL builds the JSON
 * items, since each column of a result costs more than a few more bytes.
 */
const PAGE = `
  select k.key_id, k.issued_at, k.member_id, m.sealed,
    left(k.issued, -1) || ',"status":"' || case when k.revoked_at is null then 'active' else 'revoked' end
      || '","created_at":"' || k.issued_at
      || '","created_by":{"id":"' || k.member_id || '","name":' || case when m.sealed is null then coalesce(to_json(m.name)::text, 'null') else 'null' end
      || '},"last_used_at":' || ${quoted('u.last_used_at')}
      || ',"revoked_at":' || ${quoted('k.revoked_at')} || '}' as item
  from api_keys.api_key k
  left join workspaces.member m using (workspace_id, member_id)
  left join access.key_use u using (workspace_id, key_id)
  where k.workspace_id = $1 and (k.issued_at, k.key_id) < ($2, $3)
  order by k.issued_at desc, k.key_id desc limit $4`;

/** Start cursor: sorts after every row, so the first page needs no special case. */
const BEFORE_NEWEST = [LARGEST_TEXT, LARGEST_TEXT] as const;

type Row = {
  readonly key_id: string;
  readonly issued_at: string;
  readonly sealed: string | null;
  readonly member_id: string;
  readonly item: string;
};

/** `sealedNames`: encrypted names by member id. The items leave these names out; the vault decrypts them. */
export type ApiKeyPage = Page & { readonly sealedNames: ReadonlyMap<string, string> };

/** Lists API keys, newest first, revoked ones included. */
export const listApiKeys = async (
  db: ReadDatabase,
  workspaceId: string,
  page: PageRequest,
): Promise<ApiKeyPage> => {
  const query = { sql: PAGE, values: [workspaceId], start: BEFORE_NEWEST };
  const found = await readKeysetRows<Row>(db, query, page);
  const { rows, next } = cutPage(found, page.limit, (last) => [last.issued_at, last.key_id]);
  return {
    items: rows.map(({ item }) => item),
    next,
    sealedNames: new Map(
      rows.flatMap(({ member_id, sealed }) => (sealed === null ? [] : [[member_id, sealed]])),
    ),
  };
};
