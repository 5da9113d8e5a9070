import type { Page } from '#contracts/ports/read-database.ts';
import { pageReply, type Reply } from './reply.ts';

/**
 * Replies with a page as of its newest item. A page without any is as of the newest observation that its read model
 * has applied. That time is read first and the page once more, so that the page lacks nothing observed until then.
 */
export const pageAsOf = async <Found extends Page>(
  read: () => Promise<Found>,
  asOfItems: (found: Found) => string | null,
  readNewest: () => Promise<string | null>,
): Promise<Reply> => {
  const found = await read();
  const asOf = asOfItems(found);
  if (asOf !== null) return pageReply(found, asOf);
  const newest = await readNewest();
  const again = await read();
  return pageReply(again, asOfItems(again) ?? newest);
};
