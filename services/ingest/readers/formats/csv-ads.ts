import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { mappedAd, type Pick, type Variant } from '../mapped/mapped-ad.ts';
import { isBlankText } from '../fields/list-notation.ts';
import { anotherHeader, brokenRow, type CsvRow, csvRows } from '../parsing/csv-rows.ts';
import { type AdRecord, type Reader, recordOrRefusal } from '../record.ts';
import { snake } from '../parsing/snake-case.ts';
import { ARCHIVE_ID_NAMES } from '../shapes/known-shapes.ts';
import { archiveAd, archiveId, hasArchiveContent } from './ads-archive-ad.ts';
import type { CsvMapping } from './column-mapping.ts';
import { webAd, webAdId, websiteNames } from './web-ad.ts';

type Layout = {
  readonly adId: (row: CsvRow) => unknown;
  readonly read: (row: CsvRow, at: { readonly line: number; readonly raw: string }) => AdRecord;
};
type OtherLayout = { readonly missing: readonly string[]; readonly advice: string };

const readCsvAds = (layoutOf: (columns: readonly string[]) => Layout | OtherLayout): Reader =>
  async function* (source) {
    let layout: Layout | null = null;
    for await (const item of csvRows(source)) {
      if (item.kind === 'broken') {
        yield brokenRow(item);
      } else if (item.kind === 'header') {
        const found = layoutOf(item.columns);
        if ('missing' in found) {
          yield anotherHeader(item.columns, found.missing, found.advice);
          return;
        }
        layout = found;
      } else if (layout !== null) {
        const { line, raw, row } = item;
        const { adId, read } = layout;
        const id = adId(row);
        yield recordOrRefusal({ line, raw, adId: typeof id === 'string' ? id : null }, () =>
          read(row, { line, raw }),
        );
      }
    }
  };

/** Cells by the library's names: `Ad_Archive_ID` and `Page Name` are known too. The first one of a name counts. */
const namedCells = (row: CsvRow): CsvRow => {
  const cells: { [name: string]: string } = {};
  for (const [column, cell] of Object.entries(row)) cells[snake(column)] ||= cell;
  return cells;
};

export const readAdsArchiveCsv = readCsvAds((columns) => {
  const names = columns.map(snake);
  const cellsOf = names.every((name, at) => name === columns[at]) ? (row: CsvRow) => row : namedCells;
  const hasId = ARCHIVE_ID_NAMES.some((name) => names.includes(name));
  if (hasId && hasArchiveContent(names))
    return {
      adId: (row) => archiveId(cellsOf(row)),
      read: (row, at) => archiveAd(cellsOf(row), 'ads-archive-csv', at),
    };
  const missing = hasId ? 'ad_creative_bodies or ad_delivery_start_time' : ARCHIVE_ID_NAMES.join(' or ');
  return { missing: [missing], advice: 'use --mapping FILE for other headers' };
});

/** True for a header with the website's members as paths, such as `snapshot.body.text`. */
export const isWebHeader = (columns: readonly string[]): boolean => {
  const value = websiteNames(Object.fromEntries(columns.map((name) => [name, ''])));
  return 'ad_archive_id' in value && isObject(value['snapshot']);
};

const webValue = (row: CsvRow): JsonObject => {
  const cells = Object.entries(row).filter(
    ([, cell]) => !isBlankText(cell) && !/^(?:\[\s*\]|\{\s*\})$/.test(cell),
  );
  return websiteNames(Object.fromEntries(cells));
};

export const readWebCsv = readCsvAds((columns) =>
  isWebHeader(columns)
    ? {
        adId: (row) => webAdId(webValue(row)),
        read: (row, at) => webAd({ ...at, number: null, value: webValue(row) }, 'web-csv'),
      }
    : { missing: ['ad_archive_id or snapshot'], advice: 'use --mapping FILE for other headers' },
);

export const readMappedCsv = (mapping: CsvMapping): Reader =>
  readCsvAds((columns) => {
    const { ad_id } = mapping.columns;
    const lacks = (name: string): boolean => !columns.includes(name);
    const variant = variantOf(mapping, columns);
    if (variant !== null && !ad_id.every(lacks))
      return {
        adId: (row) => pickFrom(row)(ad_id),
        read: (row, at) => mappedAd(mapping, variant, { ...at, fields: row }, pickFrom(row)),
      };
    const lacking = mapping.variants.map(({ has_columns }) => has_columns.filter(lacks));
    const fewest = lacking.reduce((best, next) => (next.length <= best.length ? next : best));
    const missing = new Set([...(ad_id.every(lacks) ? [ad_id.join(' or ')] : []), ...fewest]);
    const advice = `use a mapping for this header instead of ${mapping.name}`;
    return { missing: [...missing], advice };
  });

export const variantOf = (mapping: CsvMapping, columns: readonly string[]): Variant | null =>
  mapping.variants.find(({ has_columns }) => has_columns.every((name) => columns.includes(name))) ?? null;

const pickFrom =
  (row: CsvRow): Pick =>
  (candidates, isBlank = isBlankText) =>
    candidates?.map((name) => row[name]).find((text) => text !== undefined && !isBlank(text)) ?? null;
