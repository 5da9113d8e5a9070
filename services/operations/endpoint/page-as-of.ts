import type { Page, ReadDatabase } from '#contracts/ports/read-database.ts';
import { findBrand } from '#projections/brands/read.ts';
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

/**
 * Returns the time of a list without items that a query may limit to one brand: the last observation of the brand in the read
 * model of the list; before its first, that of its profile. Without such a brand, the newest observation of the corpus.
 */
export const readAsOfEmptyList = async (
  db: ReadDatabase,
  brandId: string | undefined,
  readOfBrand: (brandId: string) => Promise<string | null>,
  readNewest: () => Promise<string | null>,
): Promise<string | null> =>
  (brandId === undefined
    ? null
    : ((await readOfBrand(brandId)) ?? (await findBrand(db, { id: brandId }))?.profiled_at)) ?? readNewest();
