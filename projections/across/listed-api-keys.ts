import type { PageRequest, ReadDatabase } from '#contracts/read-database.ts';

/**
 * A page of keys by one statement: what was issued, whose key it is, and when a request last used it. Last uses
 * are no facts; the processes that check keys write them down in batches in a table of their own.
 */
const PAGE = `
  select k.key_id, k.issued_at, k.issued, k.revoked_at, k.member_id, m.name as member_name, u.last_used_at
  from api_keys.api_key k
  left join workspaces.member m using (workspace_id, member_id)
  left join access.key_use u using (workspace_id, key_id)
  where k.workspace_id = $1 and (k.issued_at, k.key_id) < ($2, $3)
  order by k.issued_at desc, k.key_id desc limit $4`;

/** Sorts after every time and every id, so that the first page is the page after it. */
const BEFORE_NEWEST = ['~', '~'] as const;

export type ListedApiKey = {
  readonly key_id: string;
  readonly issued_at: string;
  /** JSON text of what is fixed when a key is issued. */
  readonly issued: string;
  readonly revoked_at: string | null;
  readonly member_id: string;
  /** `null` while the projection of members has not come so far. */
  readonly member_name: string | null;
  readonly last_used_at: string | null;
};

/** Newest first, revoked ones included. `next` is the sort key of the last row when more follow. */
export const listApiKeys = async (
  db: ReadDatabase,
  workspaceId: string,
  page: PageRequest,
): Promise<{ readonly rows: readonly ListedApiKey[]; readonly next: readonly string[] | null }> => {
  const values = [workspaceId, ...(page.after ?? BEFORE_NEWEST), page.limit + 1];
  const found = await db.query<ListedApiKey>({ sql: PAGE, values });
  const rows = found.slice(0, page.limit);
  const last = rows.at(-1);
  return { rows, next: found.length > page.limit && last ? [last.issued_at, last.key_id] : null };
};
