import type { Page, ReadDatabase } from '#contracts/ports/read-database.ts';
import { findBrand } from '#projections/brands/read.ts';
import { pageReply, type Reply } from './reply.ts';

/**
 * Reads the newest observation before an empty page is read again, so that the page lacks nothing observed until then.
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
 * The last observation of the brand in the read model of the list, else of its profile; without a brand, of the
 * corpus.
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
