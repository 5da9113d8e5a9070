import { BEFORE_NEWEST, keysetPage } from '../sql/keyset-page.ts';
import type { SubjectType } from '#contracts/values/items.ts';
import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { seenBy } from '../sql/collection-visibility.ts';

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

// Omits notes on collections that the member may not see, since a note reveals that its collection exists.
const pageOf = (filter: string): string => `
  select ${COLUMNS}
  from notes.note n
  where n.workspace_id = $1 and (n.updated_at, n.note_id) < ($3, $4::uuid) ${filter}
    and (n.subject_type <> 'collection' or exists (
      select from collections.collection c
      where c.workspace_id = n.workspace_id and ${seenBy('c', 2)}
        and c.collection_id = case when n.subject_type = 'collection' then n.subject_key::uuid end
    ))
  order by n.updated_at desc, n.note_id desc limit $5`;

const ALL = pageOf('');
const ON_TYPE = pageOf('and n.subject_type = $6');
const ON_SUBJECT = pageOf('and n.subject_type = $6 and n.subject_key = $7');

export const listNotes = (
  db: ReadDatabase,
  workspaceId: string,
  memberId: string,
  { subject_type, subject_key }: SubjectFilter,
  page: PageRequest,
): Promise<Page> => {
  const filters = [subject_type, subject_key].filter((value) => value !== undefined);
  const sql = [ALL, ON_TYPE, ON_SUBJECT][filters.length] as string;
  return keysetPage<Row>(
    db,
    {
      sql,
      values: [workspaceId, memberId],
      start: BEFORE_NEWEST,
      filters,
      toItem: (row) => JSON.stringify(row),
      cursorOf: (last) => [last.updated_at, last.id],
    },
    page,
  );
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
