import { LRUCache } from 'lru-cache';
import type { EventMetadata } from '#contracts/events/event.ts';
import { storefrontStream } from '#contracts/events/corpus/storefront.ts';
import { Refusal } from '#contracts/errors.ts';
import {
  type ObservedProduct,
  STOREFRONT_PRODUCTS_MAX,
  type StorefrontScanEnd,
  type StorefrontScanPage,
} from '#contracts/observations/storefront-scan.ts';
import { recordStorefrontScan, storefront, type StorefrontState } from '#domain/corpus/storefront/decider.ts';
import type { EventStore, KnownState } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { ChunksMissing } from '../ad-library/record-scan.ts';

/** Stores a page durably until its scan ends. The same page again changes nothing. */
export const stageStorefrontPage = async (database: Database, page: StorefrontScanPage): Promise<void> => {
  await database.query({
    name: 'ingest_stage_storefront_page',
    text: `insert into ingest.staged_storefront_page (scan_id, page, products)
           values ($1, $2, $3) on conflict do nothing`,
    values: [page.scan_id, page.page, JSON.stringify(page.products)],
  });
};

/** The scan's products in the order of its pages; `ChunksMissing` where some are still on their way. */
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
      `The scan ended with ${pages} pages, but ${rows.length} were handed in; give another scan another scan_id.`,
    );
  }
  const products = rows.flatMap((row) => JSON.parse(row.products) as ObservedProduct[]);
  if (products.length > STOREFRONT_PRODUCTS_MAX) {
    throw new Refusal(
      'invalid_input',
      `The scan shows ${products.length} products, more than the ${STOREFRONT_PRODUCTS_MAX} of one shop; split it.`,
    );
  }
  return products;
};

/**
 * Products of shops that are remembered between scans, about a kilobyte each. A shop that is not is folded from its
 * stream, which grows with every price that moves.
 */
const PRODUCTS_REMEMBERED_MAX = 50_000;

/**
 * Decides scans whose pages are all staged. A scan may be decided again after any interruption: what was recorded of
 * it already is decided no second time. The pages of a recorded scan are staged no longer when its end comes again,
 * so that they are missing only where the shop's stream does not know the scan.
 */
export const createStorefrontRecorder = (database: Database, eventStore: EventStore) => {
  // That an append at the remembered revision is taken proves that the state was current.
  const remembered = new LRUCache<string, KnownState<StorefrontState>>({
    maxSize: PRODUCTS_REMEMBERED_MAX,
    sizeCalculation: ({ state }) => state.products.size + 1,
  });
  return async (end: StorefrontScanEnd, metadata: EventMetadata, commandId: string): Promise<number> => {
    const products = await stagedProducts(database, end);
    const stream = storefrontStream(end.domain);
    const { events, recorded, state } = await eventStore.decide({
      stream,
      decider: storefront,
      decision: (known) => {
        if (known.scans.has(end.scan_id)) return [];
        if (products instanceof ChunksMissing) throw products;
        return recordStorefrontScan(end, products)(known);
      },
      metadata,
      commandId,
      known: remembered.get(stream),
    });
    if (recorded) remembered.set(stream, { ...recorded, state });
    await database.query('delete from ingest.staged_storefront_page where scan_id = $1', [end.scan_id]);
    return events.length;
  };
};
