import { HistoryEntry } from '#contracts/audit/entry.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';

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

const CONDITIONS: Readonly<Record<keyof HistoryFilter | 'after' | 'before', string>> = {
  type: 'type =',
  actor: 'actor =',
  since: 'recorded_at >=',
  until: 'recorded_at <',
  category: 'category =',
  resourceId: 'resource_id =',
  after: 'sequence >',
  before: 'sequence <',
};

/** Newest first; with `after` oldest first, for clients that follow the history. */
export const listHistory = async (
  db: ReadDatabase,
  workspaceId: string,
  filter: HistoryFilter,
  { limit, after, before }: HistoryRange,
): Promise<readonly HistoryEntry[]> => {
  const values: unknown[] = [workspaceId];
  let where = 'workspace_id = $1';
  for (const [name, value] of Object.entries({ ...filter, after, before })) {
    if (value === undefined) continue;
    values.push(value);
    where += ` and ${CONDITIONS[name as keyof typeof CONDITIONS]} $${values.length}`;
  }
  values.push(limit);
  const sql = `select sequence, hash, record from workspace_history.entry where ${where}
    order by sequence ${after === undefined ? 'desc' : 'asc'} limit $${values.length}`;
  return (await db.slow<Row>({ sql, values })).map(entryOf);
};

/** `null` if the history is empty. The hash covers all entries before it. */
export const findHistoryHead = async (
  db: ReadDatabase,
  workspaceId: string,
): Promise<{ readonly sequence: number; readonly hash: string } | null> => {
  const [last] = await listHistory(db, workspaceId, {}, { limit: 1 });
  return last ? { sequence: last.sequence, hash: last.hash } : null;
};
