import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { readNewestObservation } from '#projections/brands/read.ts';
import type { PageByVisits } from '#projections/queries/brands-by-visits.ts';
import { readNewestEstimate } from '#projections/traffic/read.ts';
import { pageAsOf } from '../endpoint/page-as-of.ts';
import { latestOf, oldestOf, type Reply } from '../endpoint/reply.ts';

/** Joins estimates and brand records; holds as of the older of the two. */
export const pageByVisits = async (db: ReadDatabase, read: () => Promise<PageByVisits>): Promise<Reply> => {
  const [brandsAsOf, reply] = await Promise.all([
    readNewestObservation(db),
    pageAsOf(
      read,
      ({ asOf }) => latestOf(asOf),
      () => readNewestEstimate(db),
    ),
  ]);
  return { ...reply, asOf: oldestOf([reply.asOf, brandsAsOf]) };
};
