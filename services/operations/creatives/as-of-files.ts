import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { readNewestOfBrandFiles, readNewestOfFiles } from '#projections/creatives/read.ts';
import { readAsOfEmptyList } from '../endpoint/page-as-of.ts';

/** Returns the time of a reply without files, of one brand or of all. */
export const readAsOfFiles = (db: ReadDatabase, brandId: string | undefined): Promise<string | null> =>
  readAsOfEmptyList(
    db,
    brandId,
    (id) => readNewestOfBrandFiles(db, id),
    () => readNewestOfFiles(db),
  );
