import { stringify } from 'csv-stringify';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReportRequested } from '#contracts/events/report.ts';
import type { ReadDatabase } from '#contracts/read-database.ts';
import type { RadarItem } from '#contracts/resources/radar.ts';
import { REPORT_COLUMNS } from '#contracts/resources/report.ts';
import type { ObjectStore, StoredObject } from '#platform/object-store.ts';
import { readRadarWindow } from './read-radar-window.ts';

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
});

/** Streams a report's rows into the object store: memory does not grow with the file. */
export const exportRadar = async (
  db: ReadDatabase,
  objectStore: ObjectStore,
  request: ReportRequested['data'],
  objectKey: string,
  signal: AbortSignal,
): Promise<StoredObject & { readonly rows: number }> => {
  let rows = 0;
  const source = async function* () {
    for await (const items of readRadarWindow(db, request)) {
      signal.throwIfAborted();
      rows += items.length;
      yield* items.map(rowOf);
    }
  };
  // RFC 4180 line ends. A cell that a spreadsheet would take for a formula begins with an apostrophe.
  const csv = stringify({
    header: true,
    columns: [...REPORT_COLUMNS],
    escape_formulas: true,
    record_delimiter: 'windows',
  });
  const written: { object?: StoredObject } = {};
  await pipeline(
    Readable.from(source()),
    csv,
    async (text: AsyncIterable<Uint8Array>) => {
      written.object = await objectStore.write(objectKey, text);
    },
    { signal },
  );
  if (!written.object) throw new Error('a pipeline that ended has written its file');
  return { ...written.object, rows };
};
