import { Refusal } from '#contracts/errors.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** All parts of a scan name the same brand (rule 8). */

/** Parts of scan `$1` for another brand than `brandId`. */
export const partsOfAnotherBrandSql = (brandId: string): string => `
  select from ingest.staged_chunk where scan_id = $1 and brand_id <> ${brandId}
  union all select from ingest.scan where scan_id = $1 and scanned_for <> ${brandId}`;

export const anotherBrand = (scanId: string): Refusal =>
  new Refusal(
    'invalid_input',
    `The scan ${scanId} was submitted before for another \`brand_domain\`. Use a new \`scan_id\` for each scan.`,
  );

/** Throws `Refusal` for parts of one scan for two brands. */
export const requireOneBrand = async (
  database: Database,
  scanId: string,
  scannedFor: string,
): Promise<void> => {
  const { rows } = await database.query<{ is_another: boolean }>({
    name: 'ingest_scan_of_another_brand',
    text: `select exists (${partsOfAnotherBrandSql('$2')}) as is_another`,
    values: [scanId, scannedFor],
  });
  if (rows[0]?.is_another) throw anotherBrand(scanId);
};
