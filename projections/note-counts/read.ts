import type { ReadDatabase } from '#contracts/ports/read-database.ts';

/** Returns the number of notes of a workspace. */
export const countNotes = async (db: ReadDatabase, workspaceId: string): Promise<number> => {
  const [row] = await db.query<{ notes: number }>({
    sql: 'select notes::float8 as notes from note_counts.note_count where workspace_id = $1',
    values: [workspaceId],
  });
  return row?.notes ?? 0;
};
