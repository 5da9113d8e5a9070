import { HOUR_MS } from '#contracts/values/time.ts';
import {
  type Product,
  type ProductChange,
  type ProductsListed,
  STOREFRONT_EVENT_MAX_CHARACTERS,
  type StorefrontEvent,
  type StorefrontTotals,
} from '#contracts/events/corpus/storefront.ts';
import type { ObservedProduct, StorefrontScanEnd } from '#contracts/observations/storefront-scan.ts';
import type { Decider } from '#domain/decider.ts';
import { boundedGroups } from '#domain/event-size-limit.ts';
import { brandIdOf } from '#domain/ids.ts';
import { PersistentMap } from '#domain/persistent-map.ts';
import { changedProduct, productChange, productOf } from './compare-product.ts';

/**
 * Aggregate storefront, stream `storefront-<domain>`: the public catalogue of one shop, scan by scan.
 * Parts, in order: state, evolve, decision (`recordStorefrontScan`).
 *
 * The rules are those of library scans (DESIGN §5): absent is not delisted, the first complete scan is a baseline,
 * blanks overwrite nothing, and a scan older than the last one is history. A scan without any product counts as a
 * failed fetch, even if it claims to be complete: it never delists a whole shop.
 */

type ProductState = {
  readonly product: Product;
  readonly listed: boolean;
  readonly missing_since: string | null;
};

/** Counts of the events of a scan that is not closed yet. */
type Tally = Omit<StorefrontTotals, 'seen' | 'products' | 'missing'>;
const EMPTY_TALLY: Tally = {
  baseline: 0,
  listed: 0,
  returned: 0,
  changed: 0,
  delisted: 0,
  cheaper: 0,
  dearer: 0,
  mixed: 0,
};

export type StorefrontState = {
  readonly products: ReadonlyMap<string, ProductState>;
  readonly scans: PersistentMap<true>;
  readonly scanned_at: string | null;
  /** Time of the last complete scan. */
  readonly completed_at: string | null;
  readonly currency: string | null;
  readonly open: { readonly scan_id: string; readonly tally: Tally };
};

const initial: StorefrontState = {
  products: new Map(),
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

/**
 * Returns the state with some products changed. It copies the map once per event: an event holds many products, so one
 * copy costs less than a persistent map with a new version per product.
 */
const updateProducts = (
  state: StorefrontState,
  ids: readonly string[],
  change: (existing: ProductState) => ProductState,
): StorefrontState => {
  const products = new Map(state.products);
  for (const id of ids) {
    const existing = products.get(id);
    if (existing) products.set(id, change(existing));
  }
  return { ...state, products };
};

const evolve = (before: StorefrontState, event: StorefrontEvent): StorefrontState => {
  const state = withTally(before, event);
  switch (event.type) {
    case 'ProductsListed': {
      const products = new Map(state.products);
      for (const product of event.data.products) {
        products.set(product.product_id, { product, listed: true, missing_since: null });
      }
      return { ...state, products };
    }
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

/** Minimum hours between two complete scans that both miss a product before it is delisted. */
export const DELISTED_AFTER_HOURS = 20;
/** Maximum product ids in one event. */
const EVENT_IDS_MAX = 5_000;

/** Fields that every event of a storefront scan has. */
type Sighting = {
  readonly brand_id: string;
  readonly domain: string;
  readonly scan_id: string;
  readonly observed_at: string;
};

const hoursBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / HOUR_MS;

/** Returns the events about products that the scan shows: new or returned, changed, and no longer missing. */
const sightingEvents = (
  state: StorefrontState,
  at: Sighting,
  shown: ReadonlyMap<string, ObservedProduct>,
  currencyChanged: boolean,
): StorefrontEvent[] => {
  const first = state.completed_at === null ? 'baseline' : 'news';
  const listings: Record<ProductsListed['data']['novelty'], Product[]> = {
    baseline: [],
    news: [],
    returned: [],
  };
  const changes: ProductChange[] = [];
  const seen: string[] = [];
  for (const observed of shown.values()) {
    const existing = state.products.get(observed.id);
    const product = productOf(observed, existing?.product);
    if (!existing?.listed) {
      listings[existing ? 'returned' : first].push(product);
      continue;
    }
    const change = productChange(existing.product, product, currencyChanged);
    if (change) changes.push(change);
    if (existing.missing_since !== null) seen.push(observed.id);
  }
  return [
    ...(['baseline', 'news', 'returned'] as const).flatMap((novelty) =>
      boundedGroups(listings[novelty], STOREFRONT_EVENT_MAX_CHARACTERS).map(
        (products): StorefrontEvent => ({
          type: 'ProductsListed',
          data: { ...at, novelty, products },
        }),
      ),
    ),
    ...boundedGroups(changes, STOREFRONT_EVENT_MAX_CHARACTERS).map(
      (group): StorefrontEvent => ({
        type: 'ProductsChanged',
        data: { ...at, changes: group },
      }),
    ),
    ...boundedGroups(seen, STOREFRONT_EVENT_MAX_CHARACTERS, EVENT_IDS_MAX).map(
      (product_ids): StorefrontEvent => ({
        type: 'ProductsSeen',
        data: { ...at, product_ids },
      }),
    ),
  ];
};

/** Returns the events about products that a complete scan does not show: missing, or delisted. */
const absenceEvents = (
  state: StorefrontState,
  at: Sighting,
  shown: ReadonlyMap<string, ObservedProduct>,
): StorefrontEvent[] => {
  const missed: string[] = [];
  const delisted: { product_id: string; title: string; missing_since: string }[] = [];
  for (const [product_id, { product, listed, missing_since }] of state.products) {
    if (!listed || shown.has(product_id)) continue;
    if (missing_since === null) missed.push(product_id);
    else if (hoursBetween(missing_since, at.observed_at) >= DELISTED_AFTER_HOURS)
      delisted.push({ product_id, title: product.title, missing_since });
  }
  return [
    ...boundedGroups(missed.toSorted(), STOREFRONT_EVENT_MAX_CHARACTERS, EVENT_IDS_MAX).map(
      (product_ids): StorefrontEvent => ({ type: 'ProductsMissed', data: { ...at, product_ids } }),
    ),
    ...boundedGroups(
      delisted.toSorted((one, other) => (one.product_id < other.product_id ? -1 : 1)),
      STOREFRONT_EVENT_MAX_CHARACTERS,
    ).map((products): StorefrontEvent => ({ type: 'ProductsDelisted', data: { ...at, products } })),
  ];
};

/** Records a scan of which all pages have arrived. It may be decided again after an interruption at any event. */
export const recordStorefrontScan =
  (end: StorefrontScanEnd, products: readonly ObservedProduct[]) =>
  (state: StorefrontState): StorefrontEvent[] => {
    const { scan_id, domain, scanned_at: observed_at, currency, collector, pages } = end;
    if (state.scans.has(scan_id)) return [];
    const at = { brand_id: brandIdOf(domain), domain, scan_id, observed_at };
    const late = state.scanned_at !== null && observed_at < state.scanned_at;
    const complete = end.complete && products.length > 0;
    // A scan may show a product twice; the first one counts.
    const shown = new Map(products.toReversed().map((product) => [product.id, product]));
    const currencyChanged = currency !== null && state.currency !== null && currency !== state.currency;
    const events = late
      ? []
      : [
          ...sightingEvents(state, at, new Map([...shown].toReversed()), currencyChanged),
          ...(complete ? absenceEvents(state, at, shown) : []),
        ];
    const after = events.reduce(evolve, state);
    const listed = [...after.products].filter(([, existing]) => existing.listed);
    return [
      ...events,
      {
        type: 'StorefrontScanRecorded',
        data: {
          ...at,
          collector,
          complete,
          claimed_complete: end.complete,
          pages,
          currency,
          baseline: complete && !late && state.completed_at === null,
          late_arrival: late,
          totals: {
            seen: shown.size,
            products: listed.length,
            missing: listed.filter(([, { missing_since }]) => missing_since !== null).length,
            ...(after.open.scan_id === scan_id ? after.open.tally : EMPTY_TALLY),
          },
        },
      },
    ];
  };
