import { HistoryEntry } from '#contracts/audit/entry.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { sql } from '../sql/sql-tag.ts';

export type HistoryFilter = {
  readonly type?: string | undefined;
  /** `kind:id`. */
  readonly actor?: string | undefined;
  /** ISO timestamps; `since` inclusive, `until` exclusive. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly category?: string | undefined;
  readonly resourceId?: string | undefined;
};

/** After `after` ascending, or before `before` descending. */
export type HistoryRange = {
  readonly limit: number;
  readonly after?: number | undefined;
  readonly before?: number | undefined;
};

type Row = { readonly sequence: string; readonly hash: string; readonly record: string };

const entryOf = ({ sequence, hash, record }: Row): HistoryEntry =>
  ({ sequence: Number(sequence), ...(JSON.parse(record) as object), hash }) as HistoryEntry;

/** Newest first; with `after` oldest first, for clients that follow the history. */
export const listHistory = async (
  db: ReadDatabase,
  workspaceId: string,
  { type, actor, since, until, category, resourceId }: HistoryFilter,
  { limit, after, before }: HistoryRange,
): Promise<readonly HistoryEntry[]> => {
  const where = sql.and([
    sql.fragment`workspace_id = ${workspaceId}`,
    type !== undefined && sql.fragment`type = ${type}`,
    actor !== undefined && sql.fragment`actor = ${actor}`,
    since !== undefined && sql.fragment`recorded_at >= ${since}`,
    until !== undefined && sql.fragment`recorded_at < ${until}`,
    category !== undefined && sql.fragment`category = ${category}`,
    resourceId !== undefined && sql.fragment`resource_id = ${resourceId}`,
    after !== undefined && sql.fragment`sequence > ${after}`,
    before !== undefined && sql.fragment`sequence < ${before}`,
  ]);
  const direction = after === undefined ? sql.fragment`desc` : sql.fragment`asc`;
  const rows = await db.slow<Row>(sql.unsafe`
    select sequence, hash, record from workspace_history.entry
    where ${where} order by sequence ${direction} limit ${limit}`);
  return rows.map(entryOf);
};

/** `null` if the history is empty. The hash covers all entries before it. */
export const findHistoryHead = async (
  db: ReadDatabase,
  workspaceId: string,
): Promise<{ readonly sequence: number; readonly hash: string } | null> => {
  const [last] = await listHistory(db, workspaceId, {}, { limit: 1 });
  return last ? { sequence: last.sequence, hash: last.hash } : null;
};

/** Returns the ids whose members were erased. */
export const listErasedMembers = async (
  db: ReadDatabase,
  workspaceId: string,
  memberIds: readonly string[],
): Promise<readonly string[]> => {
  if (memberIds.length === 0) return [];
  const rows = await db.slow<{ readonly member_id: string }>({
    sql: `select distinct record::jsonb -> 'data' ->> 'member_id' as member_id from workspace_history.entry
      where workspace_id = $1 and type = 'MemberErased' and record::jsonb -> 'data' ->> 'member_id' = any($2::text[])`,
    values: [workspaceId, memberIds],
  });
  return rows.map(({ member_id }) => member_id);
};
