import { storefrontStream, type StorefrontEvent } from '#contracts/events/corpus/storefront.ts';
import { Refusal } from '#contracts/errors.ts';
import {
  type ObservedProduct,
  STOREFRONT_PRODUCTS_MAX,
  type StorefrontScanEnd,
} from '#contracts/observations/storefront-scan.ts';
import {
  closeStorefrontScan,
  recordProductAbsences,
  recordProductSightings,
  storefrontScanOf,
} from '#domain/corpus/storefront/decider.ts';
import { handleCommand, SCAN_CONFLICTS } from '#application/commands/command-handler.ts';
import { createKeyedMutex } from '#platform/concurrency/queues.ts';
import { type EventStore, StreamMoved } from '#platform/event-store/event-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type BrandLocks, NO_LOCKS } from '../intake/brand-locks.ts';
import { ChunksMissing } from '../ad-library/record-scan.ts';
import { deleteStagedPages, type StagedPages, stagedPages, stagedPageText } from './page-staging.ts';
import { absentProductIds, loadProducts, type OpenStorefront } from './storefront-store.ts';
import { createStorefrontStateStore } from './storefront-state-store.ts';

/** Retryable like its base. */
class CataloguePagesMissing extends ChunksMissing {
  constructor(expected: number, staged: number) {
    super(expected, staged);
    this.name = 'CataloguePagesMissing';
    this.message = `the scan has ${expected} catalogue pages, but only ${staged} have arrived; send the missing pages again`;
  }
}

/** Throws `CataloguePagesMissing`, or `Refusal` for surplus pages, another shop, or too many products. */
const requireWholeScan = (end: StorefrontScanEnd, staged: StagedPages): void => {
  const pages = staged.numbers.length;
  if (pages < end.pages) throw new CataloguePagesMissing(end.pages, pages);
  if (pages > end.pages) {
    throw new Refusal(
      'invalid_input',
      `The scan end states ${end.pages} pages, but ${pages} were submitted. Use a new \`scan_id\` for each scan.`,
    );
  }
  if (staged.ofAnotherShop) {
    throw new Refusal(
      'invalid_input',
      `A page of the scan was submitted for another shop than ${end.domain}. Use a new \`scan_id\` for each scan.`,
    );
  }
  if (staged.products > STOREFRONT_PRODUCTS_MAX) {
    throw new Refusal(
      'invalid_input',
      `The scan has ${staged.products} products; the limit for one shop is ${STOREFRONT_PRODUCTS_MAX}. Split the scan.`,
    );
  }
};

export type PartLimits = {
  /** Characters of JSON after which a part ends. A part is whole pages. */
  readonly characters: number;
  readonly appendedEvents: number;
};

/** An event has up to 150,000 characters, so a part needs a few megabytes. */
const PART_LIMITS: PartLimits = { characters: 1_000_000, appendedEvents: 6 };

/** A product on two pages is in the first. Throws `StreamMoved` when another process has recorded the scan. */
const partsOf = async function* (
  database: Database,
  { scan_id, domain }: StorefrontScanEnd,
  pages: readonly number[],
  maxCharacters: number,
  shown: Set<string>,
): AsyncGenerator<readonly ObservedProduct[]> {
  let part: ObservedProduct[] = [];
  let characters = 0;
  for (const page of pages) {
    const text = await stagedPageText(database, scan_id, page);
    if (text === null) throw new StreamMoved(storefrontStream(domain));
    for (const product of JSON.parse(text) as ObservedProduct[]) {
      if (shown.has(product.id)) continue;
      shown.add(product.id);
      part.push(product);
    }
    characters += text.length;
    if (characters < maxCharacters) continue;
    yield part;
    part = [];
    characters = 0;
  }
  if (part.length > 0) yield part;
};

/** Each group is folded before the next is decided; a recorded scan yields nothing. Memory holds about 14 MB. */
const decideInParts = async function* (
  database: Database,
  shop: OpenStorefront,
  end: StorefrontScanEnd,
  staged: StagedPages,
  maxCharacters: number,
): AsyncGenerator<readonly StorefrontEvent[]> {
  if (shop.state.scans.has(end.scan_id)) return;
  requireWholeScan(end, staged);
  const scan = storefrontScanOf(end, staged.products);
  const shown = new Set<string>();
  for await (const products of partsOf(database, end, staged.numbers, maxCharacters, shown)) {
    const productIds = products.map(({ id }) => id);
    await loadProducts(database, shop, productIds);
    yield recordProductSightings(scan, products)(shop.state);
  }
  if (scan.complete) {
    for await (const productIds of absentProductIds(database, end.domain, shown, maxCharacters)) {
      await loadProducts(database, shop, productIds);
      yield recordProductAbsences(scan, productIds)(shop.state);
    }
  }
  yield closeStorefrontScan(scan, shown.size)(shop.state);
};

/**
 * Safe to repeat. The pages of a recorded scan are deleted, so missing pages are an error only if the stream lacks the
 * scan.
 */
export const createStorefrontRecorder = (
  database: Database,
  eventStore: EventStore,
  { characters, appendedEvents }: PartLimits = PART_LIMITS,
  locks: BrandLocks = NO_LOCKS,
) => {
  const serialize = createKeyedMutex();
  const record = async (end: StorefrontScanEnd): Promise<number> => {
    const { scan_id: scanId, domain } = end;
    const staged = await stagedPages(database, scanId, domain);
    const readsStream = staged.numbers.length < end.pages;
    const scan = { domain, scanId, readsStream, appendedEvents };
    const store = createStorefrontStateStore(database, eventStore, scan);
    await handleCommand({
      store,
      decide: (shop) => decideInParts(database, shop, end, staged, characters),
      conflicts: SCAN_CONFLICTS,
    });
    await deleteStagedPages(database, scanId);
    return store.appended();
  };
  return (end: StorefrontScanEnd): Promise<number> =>
    serialize(end.domain, () => locks.run(storefrontStream(end.domain), () => record(end)));
};
