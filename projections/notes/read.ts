import { BEFORE_NEWEST, pageOfRows } from '../sql/pages.ts';
import type { SubjectType } from '#contracts/values/items.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { seenBy } from '../sql/collection-visibility.ts';
import { raw, sql } from '../sql/sql-tag.ts';

type Row = {
  readonly id: string;
  readonly subject_type: SubjectType;
  readonly subject_key: string;
  readonly body: string;
  readonly created_by: string;
  readonly created_at: string;
  readonly updated_at: string;
};

/** Without either field, all subjects. */
export type SubjectFilter = { readonly subject_type?: SubjectType; readonly subject_key?: string };

const COLUMNS =
  'n.note_id as id, n.subject_type, n.subject_key, n.body, n.created_by, n.created_at, n.updated_at';

export const listNotes = async (
  db: ReadDatabase,
  workspaceId: string,
  memberId: string,
  { subject_type, subject_key }: SubjectFilter,
  page: PageRequest,
): Promise<Page> => {
  const where = sql.and([
    sql.fragment`n.workspace_id = ${workspaceId}`,
    sql.fragment`(n.updated_at, n.note_id) < (${sql.list(page.after ?? BEFORE_NEWEST)})`,
    subject_type !== undefined && sql.fragment`n.subject_type = ${subject_type}`,
    subject_key !== undefined && sql.fragment`n.subject_key = ${subject_key}`,
    // Omits notes on collections that the member may not see, since a note reveals that its collection exists.
    sql.fragment`(n.subject_type <> 'collection' or exists (
      select from collections.collection c
      where c.workspace_id = n.workspace_id and ${seenBy('c', memberId)}
        and c.collection_id = case when n.subject_type = 'collection' then n.subject_key::uuid end
    ))`,
  ]);
  const rows = await db.query<Row>(sql.unsafe`
    select ${raw(COLUMNS)} from notes.note n where ${where}
    order by n.updated_at desc, n.note_id desc limit ${page.limit + 1}`);
  return pageOfRows(rows, page.limit, {
    toItem: (row) => JSON.stringify(row),
    cursorOf: (last) => [last.updated_at, last.id],
  });
};

const ONE = `select ${COLUMNS} from notes.note n where n.workspace_id = $1 and n.note_id = $2`;

/** Does not check who may read the note. `null` when there is none. */
export const findNote = async (
  db: ReadDatabase,
  workspaceId: string,
  noteId: string,
): Promise<string | null> => {
  const [row] = await db.query<Row>({ sql: ONE, values: [workspaceId, noteId] });
  return row ? JSON.stringify(row) : null;
};

const COUNT = 'select count(*)::int as notes from notes.note where workspace_id = $1';

/** Counts the notes of a workspace, also those on collections that a member does not see. */
export const countNotes = async (db: ReadDatabase, workspaceId: string): Promise<number> =>
  (await db.query<{ notes: number }>({ sql: COUNT, values: [workspaceId] }))[0]?.notes ?? 0;
