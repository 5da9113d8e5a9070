import type {
  Product,
  ProductChange,
  StorefrontEvent,
  StorefrontTotals,
} from '#contracts/events/corpus/storefront.ts';
import type { Decider } from '#domain/decider.ts';
import { PersistentMap } from '#domain/persistent-map.ts';
import { changedProduct } from './compare-product.ts';

export type ProductState = {
  readonly product: Product;
  readonly listed: boolean;
  readonly missing_since: string | null;
};

/** Counts of a scan that is not closed yet. */
export type Tally = Omit<StorefrontTotals, 'seen' | 'products' | 'missing'>;
export const EMPTY_TALLY: Tally = {
  baseline: 0,
  listed: 0,
  returned: 0,
  changed: 0,
  delisted: 0,
  cheaper: 0,
  dearer: 0,
  mixed: 0,
};

/** Counters over all products, and only the products that a decision needs. A fold of the whole stream has all. */
export type StorefrontState = {
  readonly products: ReadonlyMap<string, ProductState>;
  readonly listed: number;
  readonly missing: number;
  readonly scans: PersistentMap<true>;
  readonly scanned_at: string | null;
  readonly completed_at: string | null;
  readonly currency: string | null;
  readonly open: { readonly scan_id: string; readonly tally: Tally };
};

const initial: StorefrontState = {
  products: new Map(),
  listed: 0,
  missing: 0,
  scans: PersistentMap.empty(),
  scanned_at: null,
  completed_at: null,
  currency: null,
  open: { scan_id: '', tally: EMPTY_TALLY },
};

const tallyOf = (event: StorefrontEvent): Partial<Tally> => {
  switch (event.type) {
    case 'ProductsListed': {
      const { novelty, products } = event.data;
      return { [novelty === 'news' ? 'listed' : novelty]: products.length };
    }
    case 'ProductsChanged': {
      const count = (matches: (change: ProductChange) => boolean): number =>
        event.data.changes.filter(matches).length;
      return {
        changed: count(({ news }) => news),
        cheaper: count(({ price_move }) => price_move === 'cheaper'),
        dearer: count(({ price_move }) => price_move === 'dearer'),
        mixed: count(({ price_move }) => price_move === 'mixed'),
      };
    }
    case 'ProductsDelisted':
      return { delisted: event.data.products.length };
    case 'ProductsMissed':
    case 'ProductsSeen':
    case 'StorefrontScanRecorded':
      return {};
  }
};

const withTally = (state: StorefrontState, event: StorefrontEvent): StorefrontState => {
  const { scan_id } = event.data;
  const before = state.open.scan_id === scan_id ? state.open.tally : EMPTY_TALLY;
  const more = tallyOf(event);
  const names = Object.keys(EMPTY_TALLY) as (keyof Tally)[];
  const tally = Object.fromEntries(names.map((name) => [name, before[name] + (more[name] ?? 0)])) as Tally;
  return { ...state, open: { scan_id, tally } };
};

const isListed = (product: ProductState | undefined): number => (product?.listed ? 1 : 0);
const isMissing = (product: ProductState | undefined): number => (product?.missing_since ? 1 : 0);

/** Copies the map once per event: with many products that costs less than a persistent map. */
const withProducts = (
  state: StorefrontState,
  changed: Iterable<readonly [string, ProductState]>,
): StorefrontState => {
  const products = new Map(state.products);
  let { listed, missing } = state;
  for (const [id, product] of changed) {
    const before = products.get(id);
    listed += isListed(product) - isListed(before);
    missing += isMissing(product) - isMissing(before);
    products.set(id, product);
  }
  return { ...state, products, listed, missing };
};

const updateProducts = (
  state: StorefrontState,
  ids: readonly string[],
  change: (existing: ProductState) => ProductState,
): StorefrontState =>
  withProducts(
    state,
    ids.flatMap((id) => {
      const existing = state.products.get(id);
      return existing ? [[id, change(existing)] as const] : [];
    }),
  );

const evolve = (before: StorefrontState, event: StorefrontEvent): StorefrontState => {
  const state = withTally(before, event);
  switch (event.type) {
    case 'ProductsListed':
      return withProducts(
        state,
        event.data.products.map((product) => [
          product.product_id,
          { product, listed: true, missing_since: null },
        ]),
      );
    case 'ProductsChanged': {
      const changes = new Map(event.data.changes.map((change) => [change.product_id, change]));
      return updateProducts(state, [...changes.keys()], (existing) => {
        const change = changes.get(existing.product.product_id);
        return change ? { ...existing, product: changedProduct(existing.product, change) } : existing;
      });
    }
    case 'ProductsMissed': {
      const { product_ids, observed_at } = event.data;
      return updateProducts(state, product_ids, (existing) => ({ ...existing, missing_since: observed_at }));
    }
    case 'ProductsSeen':
      return updateProducts(state, event.data.product_ids, (existing) => ({
        ...existing,
        missing_since: null,
      }));
    case 'ProductsDelisted': {
      const ids = event.data.products.map(({ product_id }) => product_id);
      return updateProducts(state, ids, (existing) => ({ ...existing, listed: false, missing_since: null }));
    }
    case 'StorefrontScanRecorded': {
      const { scan_id, observed_at, complete, late_arrival, currency } = event.data;
      const scans = state.scans.with(scan_id, true);
      if (late_arrival) return { ...state, scans };
      return {
        ...state,
        scans,
        scanned_at: observed_at,
        completed_at: complete ? observed_at : state.completed_at,
        currency: currency ?? state.currency,
      };
    }
  }
};

export const storefront: Decider<StorefrontState, StorefrontEvent> = { initial, evolve };
