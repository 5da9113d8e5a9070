import { LRUCache } from 'lru-cache';
import type { CommandMetadata } from '#contracts/events/event.ts';
import { storefrontStream } from '#contracts/events/corpus/storefront.ts';
import { Refusal } from '#contracts/errors.ts';
import {
  type ObservedProduct,
  STOREFRONT_PRODUCTS_MAX,
  type StorefrontScanEnd,
  type StorefrontScanPage,
} from '#contracts/observations/storefront-scan.ts';
import { recordStorefrontScan, storefront, type StorefrontState } from '#domain/corpus/storefront/decider.ts';
import { executeCommand } from '#application/commands/command-handler.ts';
import type { EventStore, LoadedState } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { ChunksMissing } from '../ad-library/record-scan.ts';

/** Stores one catalogue page of a storefront scan until the scan ends. Idempotent by scan id and page number. */
export const stageStorefrontPage = async (database: Database, page: StorefrontScanPage): Promise<void> => {
  await database.query({
    name: 'ingest_stage_storefront_page',
    text: `insert into ingest.staged_storefront_page (scan_id, page, products)
           values ($1, $2, $3) on conflict do nothing`,
    values: [page.scan_id, page.page, JSON.stringify(page.products)],
  });
};

/**
 * Returns the scan's products in the order of its catalogue pages. Returns (does not throw) `ChunksMissing` when pages
 * have not arrived: the caller throws it only if the scan is not recorded yet. Throws `Refusal` when there are more
 * pages than the end states, or more products than `STOREFRONT_PRODUCTS_MAX`.
 */
const stagedProducts = async (
  database: Database,
  { scan_id, pages }: StorefrontScanEnd,
): Promise<readonly ObservedProduct[] | ChunksMissing> => {
  const { rows } = await database.query<{ products: string }>(
    'select products from ingest.staged_storefront_page where scan_id = $1 order by page',
    [scan_id],
  );
  if (rows.length < pages) return new ChunksMissing(pages, rows.length);
  if (rows.length > pages) {
    throw new Refusal(
      'invalid_input',
      `The scan end states ${pages} pages, but ${rows.length} were submitted. Use a new \`scan_id\` for each scan.`,
    );
  }
  const products = rows.flatMap((row) => JSON.parse(row.products) as ObservedProduct[]);
  if (products.length > STOREFRONT_PRODUCTS_MAX) {
    throw new Refusal(
      'invalid_input',
      `The scan has ${products.length} products; the limit for one shop is ${STOREFRONT_PRODUCTS_MAX}. Split the scan.`,
    );
  }
  return products;
};

/**
 * Maximum number of products in the cache of shop states, about 1 kB each. A shop that is not cached is folded from
 * its stream, which grows with every price change.
 */
const CACHED_PRODUCTS_MAX = 50_000;

/**
 * Creates the function that decides and records storefront scans. It is idempotent: a scan in the shop's state yields
 * no events, so a call may be repeated after any interruption. The pages of a recorded scan are deleted. When its end
 * is delivered again, missing pages are therefore an error only if the shop's stream does not contain the scan.
 */
export const createStorefrontRecorder = (database: Database, eventStore: EventStore) => {
  const states = new LRUCache<string, LoadedState<StorefrontState>>({
    maxSize: CACHED_PRODUCTS_MAX,
    sizeCalculation: ({ state }) => state.products.size + 1,
  });
  return async (end: StorefrontScanEnd, metadata: CommandMetadata, commandId: string): Promise<number> => {
    const products = await stagedProducts(database, end);
    const stream = storefrontStream(end.domain);
    const { events, ...loaded } = await executeCommand(
      eventStore,
      {
        stream,
        decider: storefront,
        decision: (state) => {
          if (state.scans.has(end.scan_id)) return [];
          if (products instanceof ChunksMissing) throw products;
          return recordStorefrontScan(end, products)(state);
        },
        metadata,
        commandId,
      },
      states.get(stream),
    );
    states.set(stream, loaded);
    await database.query('delete from ingest.staged_storefront_page where scan_id = $1', [end.scan_id]);
    return events.length;
  };
};
