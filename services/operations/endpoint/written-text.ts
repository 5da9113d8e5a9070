import type { Log } from '#platform/logger.ts';

/**
 * Returns the JSON text of a written resource. Reads its row when the read model shows the write. Otherwise, and when
 * another request has removed the row, renders the state of the log. A failed read also falls back to the renderer,
 * because the events are already appended.
 */
export const writtenText = async (
  { isShown, log }: { readonly isShown: boolean; readonly log: Log },
  read: () => Promise<string | null>,
  render: () => string | Promise<string>,
): Promise<string> => {
  if (!isShown) return render();
  const row = await read().catch((error: unknown) => {
    log.warn({ err: error }, 'written row not readable; replied from the log');
    return null;
  });
  return row ?? render();
};
