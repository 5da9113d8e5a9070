import type { Database } from '#platform/postgres/pool.ts';

export type Appending = { readonly stream: string; readonly commandId: string };

const keyOf = ({ stream, commandId }: Appending): string => `${stream} ${commandId}`;

/** Marked commands of this process, which write the tables themselves. */
const running = new WeakMap<Database, Set<string>>();

export const isRunningHere = (database: Database, appending: Appending): boolean =>
  running.get(database)?.has(keyOf(appending)) === true;

const mark = async (database: Database, { stream, commandId }: Appending): Promise<void> => {
  await database.query({
    name: 'ingest_mark_pending',
    text: `insert into ingest.pending_fold (stream, command_id) values ($1, $2)
           on conflict (stream, command_id) do update set marked_at = now()`,
    values: [stream, commandId],
  });
};

export const clearMark = async (database: Database, { stream, commandId }: Appending): Promise<void> => {
  await database.query({
    name: 'ingest_clear_pending',
    text: 'delete from ingest.pending_fold where stream = $1 and command_id = $2',
    values: [stream, commandId],
  });
};

/** For the work that appends to the stream. */
export type Mark = {
  readonly set: () => Promise<void>;
  /** A statement that wrote the tables has deleted the mark. */
  readonly cleared: () => void;
};

/**
 * Marks the stream while `work` appends and writes the tables. Stays when `work` fails: its events may be in the log.
 */
export const whileMarked = async <T>(
  database: Database,
  appending: Appending,
  work: (mark: Mark) => Promise<T>,
): Promise<T> => {
  const commands = running.get(database) ?? new Set<string>();
  running.set(database, commands);
  let isMarked = false;
  try {
    const result = await work({
      set: async () => {
        commands.add(keyOf(appending));
        await mark(database, appending);
        isMarked = true;
      },
      cleared: () => {
        isMarked = false;
      },
    });
    if (isMarked) await clearMark(database, appending);
    return result;
  } finally {
    commands.delete(keyOf(appending));
  }
};
