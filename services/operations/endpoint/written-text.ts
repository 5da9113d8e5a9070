import type { Log } from '#platform/logger.ts';

/**
 * Reads the row of a write, else renders the state of the log. A failed read must not fail a write that is recorded.
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
