import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { quoted } from '../sql/json-text.ts';

/**
 * A page of keys by one statement: what was issued, whose key it is, and when a request last used it. Last uses
 * are no events; the processes that check keys write them down in batches in a table of their own. Items are put
 * together there, since each column of an answer costs more than a few more bytes.
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

/** Sorts after every time and every id, so that the first page is the page after it. */
const BEFORE_NEWEST = ['~', '~'] as const;

type Row = {
  readonly key_id: string;
  readonly issued_at: string;
  readonly sealed: string | null;
  readonly member_id: string;
  readonly item: string;
};

/** `sealedNames`: of members, by their ids, whose names the items leave out for the vault to open. */
export type ApiKeyPage = Page & { readonly sealedNames: ReadonlyMap<string, string> };

/** Newest first, revoked ones included. */
export const listApiKeys = async (
  db: ReadDatabase,
  workspaceId: string,
  page: PageRequest,
): Promise<ApiKeyPage> => {
  const values = [workspaceId, ...(page.after ?? BEFORE_NEWEST), page.limit + 1];
  const found = await db.query<Row>({ sql: PAGE, values });
  const rows = found.slice(0, page.limit);
  const last = rows.at(-1);
  return {
    items: rows.map(({ item }) => item),
    next: found.length > page.limit && last ? [last.issued_at, last.key_id] : null,
    sealedNames: new Map(
      rows.flatMap(({ member_id, sealed }) => (sealed === null ? [] : [[member_id, sealed]])),
    ),
  };
};
