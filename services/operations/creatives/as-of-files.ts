import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { readNewestOfBrandFiles, readNewestOfFiles } from '#projections/creatives/read.ts';
import { readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { readAsOfEmptyList } from '../endpoint/page-as-of.ts';

/** Time of a reply without files. */
export const readAsOfFiles = (db: ReadDatabase, brandId: string | undefined): Promise<string | null> =>
  readAsOfEmptyList(
    db,
    brandId,
    async (id) => (await readNewestOfBrandFiles(db, id)) ?? (await readScannedAt(db, 'creatives', id)),
    () => readNewestOfFiles(db),
  );
