import { mappedAd, type Variant } from '../mapped/mapped-ad.ts';
import { isBlankText } from '../fields/blank-text.ts';
import { anotherHeader, brokenRow, type CsvRow, csvRows } from '../parsing/csv-rows.ts';
import { type Reader, recordOrRefusal } from '../record.ts';
import type { CsvMapping } from './column-mapping.ts';

export const variantOf = (mapping: CsvMapping, columns: readonly string[]): Variant | null =>
  mapping.variants.find(({ has_columns }) => has_columns.every((name) => columns.includes(name))) ?? null;

export const readMappedCsv = (mapping: CsvMapping): Reader =>
  async function* (source) {
    let variant: Variant | null = null;
    for await (const item of csvRows(source)) {
      if (item.kind === 'broken') {
        yield brokenRow(item);
        continue;
      }
      if (item.kind === 'header') {
        variant = variantOf(mapping, item.columns);
        const missing = missingColumns(mapping, item.columns, variant);
        if (missing.length > 0 || variant === null) {
          yield anotherHeader(
            item.columns,
            missing,
            `use a mapping for this header instead of ${mapping.name}`,
          );
          return;
        }
        continue;
      }
      if (variant === null) return;
      const { line, raw, row } = item;
      const rowVariant = variant;
      const pick = pickFrom(row);
      const adId = pick(mapping.columns.ad_id);
      yield recordOrRefusal({ line, raw, adId }, () =>
        mappedAd(mapping, rowVariant, { line, raw, fields: row }, pick),
      );
    }
  };

const missingColumns = (
  mapping: CsvMapping,
  columns: readonly string[],
  variant: Variant | null,
): string[] => {
  const missing = mapping.columns.ad_id.some((name) => columns.includes(name))
    ? []
    : [mapping.columns.ad_id.join(' or ')];
  if (variant !== null) return missing;
  const lacking = mapping.variants.map(({ has_columns }) =>
    has_columns.filter((name) => !columns.includes(name)),
  );
  const fewest = lacking.reduce((best, next) => (next.length <= best.length ? next : best));
  return [...new Set([...missing, ...fewest])];
};

const pickFrom =
  (row: CsvRow) =>
  (candidates: readonly string[] | undefined, isBlank = isBlankText): string | null =>
    candidates?.map((name) => row[name]).find((text) => text !== undefined && !isBlank(text)) ?? null;
