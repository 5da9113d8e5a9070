import type { Page, PageRequest, ReadDatabase } from '#contracts/ports/read-database.ts';
import { LARGEST_BIGINT, pageOfRows } from '../sql/pages.ts';
import { sql } from '../sql/sql-tag.ts';

type Row = { readonly item: string; readonly position: string };

export type RestatementFilter = {
  readonly workspaceId: string;
  readonly kinds: readonly string[];
  /** Only those of this brief or report. */
  readonly documentId: string | undefined;
};

/** Newest first. */
export const listRestatements = async (
  db: ReadDatabase,
  { workspaceId, kinds, documentId }: RestatementFilter,
  page: PageRequest,
): Promise<Page> => {
  const where = sql.and([
    sql.fragment`workspace_id = ${workspaceId}`,
    sql.fragment`kind = any(${sql.array(kinds, 'text')})`,
    documentId !== undefined && sql.fragment`document_id = ${documentId}`,
    sql.fragment`position < ${page.after?.[0] ?? LARGEST_BIGINT}::bigint`,
  ]);
  const rows = await db.query<Row>(sql.unsafe`
    select item, position::text from restatements.restatement where ${where}
    order by position desc limit ${page.limit + 1}`);
  return pageOfRows(rows, page.limit, { toItem: ({ item }) => item, cursorOf: (last) => [last.position] });
};

const ANY = 'select from restatements.restatement where workspace_id = $1 and document_id = $2 limit 1';

export const isRestated = async (
  db: ReadDatabase,
  workspaceId: string,
  documentId: string,
): Promise<boolean> => (await db.query({ sql: ANY, values: [workspaceId, documentId] })).length > 0;
