import type { Database } from '#platform/postgres/pool.ts';

/** Marks streams whose last events may not be in the working tables yet (`ingest.pending_fold`). */

/** A command that appends to a stream which the working tables reflect. */
export type Appending = { readonly stream: string; readonly commandId: string };

const keyOf = ({ stream, commandId }: Appending): string => `${stream} ${commandId}`;

/** The marked commands that run in this process, by database. They write the tables themselves. */
const running = new WeakMap<Database, Set<string>>();

/** True while the command runs in this process. */
export const isRunningHere = (database: Database, appending: Appending): boolean =>
  running.get(database)?.has(keyOf(appending)) === true;

/** Marks the stream. Call it before the append. */
const mark = async (database: Database, { stream, commandId }: Appending): Promise<void> => {
  await database.query({
    name: 'ingest_mark_pending',
    text: `insert into ingest.pending_fold (stream, command_id) values ($1, $2)
           on conflict (stream, command_id) do update set marked_at = now()`,
    values: [stream, commandId],
  });
};

/** Deletes the mark. Call it when the tables reflect all events of the command. */
export const clearMark = async (database: Database, { stream, commandId }: Appending): Promise<void> => {
  await database.query({
    name: 'ingest_clear_pending',
    text: 'delete from ingest.pending_fold where stream = $1 and command_id = $2',
    values: [stream, commandId],
  });
};

/** The mark of a stream, for the work that appends to it. */
export type Mark = {
  /** Marks the stream. Call it before the append. */
  readonly set: () => Promise<void>;
  /** Notes that a statement of the work, which wrote the tables, has deleted the mark. */
  readonly cleared: () => void;
};

/**
 * Runs `work`, which appends events to the stream and writes them to the tables. The mark stays when `work` fails,
 * because its events may be in the log.
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
