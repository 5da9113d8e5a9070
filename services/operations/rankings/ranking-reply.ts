import { arrayText, joinObjects, objectText } from '#contracts/values/json-text.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { readBrandSummaries, readNewestObservation } from '#projections/brands/read.ts';
import { oldestOf, type Reply } from '../endpoint/reply.ts';

type Ranked = {
  readonly rows: readonly ({ readonly brand_id: string; readonly rank: number } & object)[];
  readonly next: readonly (string | number)[] | null;
  readonly as_of: string | null;
};

/** Replaces brand ids by summaries, and omits brands without one. Holds as of the older of the two. */
export const rankingReply = async (db: ReadDatabase, { rows, next, as_of: asOf }: Ranked): Promise<Reply> => {
  const [brandsAsOf, summaries] = await Promise.all([
    readNewestObservation(db),
    readBrandSummaries(
      db,
      rows.map((row) => row.brand_id),
    ),
  ]);
  const items = rows.flatMap(({ brand_id, rank, ...figures }) => {
    const brand = summaries.get(brand_id);
    if (!brand) return [];
    const place = objectText({ rank: String(rank), brand: brand.summary });
    return [joinObjects(place, JSON.stringify(figures))];
  });
  return { data: arrayText(items), asOf: oldestOf([asOf, brandsAsOf]), count: items.length, next };
};
