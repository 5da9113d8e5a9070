import type { Hash } from 'node:crypto';
import { parse } from 'csv-parse';
import { pipeline } from 'node:stream';
import { DAY_MS } from '#contracts/values/time.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { withObservedLinks } from '#contracts/values/links/observed-link.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import type { RadarItem, RadarItemType } from '#contracts/resources/workspace/radar.ts';
import { listClosedRadar } from '#projections/radar/read.ts';
import type { ReportRequested } from '#contracts/events/workspace/report.ts';
import { REPORT_COLUMNS } from '#contracts/resources/workspace/report.ts';
import { csvField, csvLines } from '#application/exports/csv-lines.ts';
import type { ObjectStore, OpenObject, StoredObject } from '#platform/object-store/object-store.ts';

const PAGE_ITEMS = 1_000;

/** `from` and `to` are UTC dates, both inclusive. */
export type RadarWindow = {
  readonly brand_ids: readonly string[];
  readonly types: readonly RadarItemType[];
  readonly from: string;
  readonly to: string;
};

/** Yields brand by brand, newest first. URLs are paths, because files and events carry no base URL. */
export const readRadarWindow = async function* (
  db: ReadDatabase,
  window: RadarWindow,
): AsyncGenerator<readonly RadarItem[]> {
  const since = `${window.from}T00:00:00.000Z`;
  const until = new Date(Date.parse(window.to) + DAY_MS).toISOString();
  for (const brandId of window.brand_ids) {
    let after: readonly (string | number)[] | null = null;
    do {
      const filter = { brandId, since, until, types: window.types };
      const page = await listClosedRadar(db, filter, { limit: PAGE_ITEMS, after });
      yield page.items.map(
        (item) => JSON.parse(withObservedLinks(item).replaceAll(BASE_URL_MARK, '')) as RadarItem,
      );
      after = page.next;
    } while (after !== null);
  }
};

type Column = (typeof REPORT_COLUMNS)[number];

const rowOf = (item: RadarItem): Readonly<Record<Column, string | null>> => ({
  observed_at: item.observed_at,
  type: item.type,
  brand_id: item.brand.id,
  brand_slug: item.brand.slug,
  brand_name: item.brand.name,
  ad_id: item.ad.id,
  page_id: item.ad.page?.page_id ?? null,
  page_name: item.ad.page?.page_name ?? null,
  format: item.ad.format,
  title: item.ad.title,
  body: item.ad.body,
  started_on: item.ad.started_on,
  stopped_on: item.stopped_on,
  basis: item.basis,
  destination_url: item.destination_url,
  previous_destination_url: item.previous_destination_url,
  item_id: item.id,
  correction: item.correction,
});

/** Line end of reports (RFC 4180). */
const LINE_END = '\r\n';

const csvOf = (items: readonly RadarItem[]): string =>
  csvLines(
    items.map(rowOf).map((row) => REPORT_COLUMNS.map((column) => row[column])),
    LINE_END,
  );

/** Streams page by page, so that memory does not grow with the file. */
export const exportRadar = async (
  db: ReadDatabase,
  objectStore: ObjectStore,
  request: ReportRequested['data'],
  objectKey: string,
  signal: AbortSignal,
): Promise<StoredObject & { readonly rows: number }> => {
  let rows = 0;
  const source = async function* (): AsyncGenerator<string> {
    yield csvLines([REPORT_COLUMNS], LINE_END);
    for await (const items of readRadarWindow(db, request)) {
      signal.throwIfAborted();
      rows += items.length;
      yield csvOf(items);
    }
  };
  const { bytes, sha256 } = await objectStore.write(objectKey, source());
  return { bytes, sha256, rows };
};

/** Fields of a row as a reader of the file finds them. */
export type ReportCells = Readonly<Record<Column, string>>;

/** Yields the rows that an export would write now, in its order. */
export const readPresentRows = async function* (
  db: ReadDatabase,
  request: RadarWindow,
): AsyncGenerator<ReportCells> {
  for await (const items of readRadarWindow(db, request)) {
    for (const row of items.map(rowOf))
      yield Object.fromEntries(
        REPORT_COLUMNS.map((column) => [column, csvField(row[column] ?? '')]),
      ) as ReportCells;
  }
};

/** Yields the rows of a file in their order. `read` gets its bytes. */
export const readDeliveredRows = async function* (file: OpenObject, read: Hash): AsyncGenerator<ReportCells> {
  const bytes = file.read().on('data', (chunk: Buffer) => read.update(chunk));
  // The iteration throws the errors.
  yield* pipeline(bytes, parse({ columns: true }), () => undefined) as AsyncIterable<ReportCells>;
};
