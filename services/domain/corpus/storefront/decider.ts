import {
  type Product,
  type ProductChange,
  type ProductsListed,
  STOREFRONT_EVENT_MAX_CHARACTERS,
  type StorefrontEvent,
  type StorefrontTotals,
} from '#contracts/events/corpus/storefront.ts';
import type { ObservedProduct, StorefrontScanEnd } from '#contracts/observations/storefront-scan.ts';
import { boundedGroups } from '#domain/event-size-limit.ts';
import { brandIdOf } from '#domain/ids.ts';
import { PersistentMap } from '#domain/persistent-map.ts';
import { changedProduct, productChange, productOf } from './compare-product.ts';

/**
 * Stream `storefront-<domain>`: a shop's public catalogue, scan by scan. The rules are those of library scans
 * (DESIGN §5): absent is not delisted, the first complete scan is a baseline, blanks overwrite nothing, and a scan
 * that is older than the last is history. An empty answer after a full one is a fetch that failed, whatever was
 * claimed of it: it never empties a shop.
 */

/** A product is delisted when complete scans at least so far apart both miss it. */
export const DELISTED_AFTER_HOURS = 20;
/** Ids of products that one event may hold. */
const EVENT_IDS_MAX = 5_000;
const HOUR_MS = 3_600_000;

type KnownProduct = {
  readonly product: Product;
  readonly listed: boolean;
  readonly missing_since: string | null;
};

/** What the events of a scan that is not closed yet add up to. */
type Tally = Omit<StorefrontTotals, 'seen' | 'products' | 'missing'>;
const NOTHING: Tally = {
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
  readonly products: ReadonlyMap<string, KnownProduct>;
  readonly scans: PersistentMap<true>;
  readonly scanned_at: string | null;
  /** The last complete scan. */
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
  open: { scan_id: '', tally: NOTHING },
};

const tallyOf = (event: StorefrontEvent): Partial<Tally> => {
  switch (event.type) {
    case 'ProductsListed': {
      const { novelty, products } = event.data;
      return { [novelty === 'news' ? 'listed' : novelty]: products.length };
    }
    case 'ProductsChanged': {
      const count = (wanted: (change: ProductChange) => boolean): number =>
        event.data.changes.filter(wanted).length;
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

const counted = (state: StorefrontState, event: StorefrontEvent): StorefrontState => {
  const { scan_id } = event.data;
  const before = state.open.scan_id === scan_id ? state.open.tally : NOTHING;
  const more = tallyOf(event);
  const names = Object.keys(NOTHING) as (keyof Tally)[];
  const tally = Object.fromEntries(names.map((name) => [name, before[name] + (more[name] ?? 0)])) as Tally;
  return { ...state, open: { scan_id, tally } };
};

/** Events hold many products each: one copy of the map an event costs less than sharing most of it for each product. */
const changing = (
  state: StorefrontState,
  ids: readonly string[],
  change: (known: KnownProduct) => KnownProduct,
): StorefrontState => {
  const products = new Map(state.products);
  for (const id of ids) {
    const known = products.get(id);
    if (known) products.set(id, change(known));
  }
  return { ...state, products };
};

const evolve = (before: StorefrontState, event: StorefrontEvent): StorefrontState => {
  const state = counted(before, event);
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
      return changing(state, [...changes.keys()], (known) => {
        const change = changes.get(known.product.product_id);
        return change ? { ...known, product: changedProduct(known.product, change) } : known;
      });
    }
    case 'ProductsMissed': {
      const { product_ids, observed_at } = event.data;
      return changing(state, product_ids, (known) => ({ ...known, missing_since: observed_at }));
    }
    case 'ProductsSeen':
      return changing(state, event.data.product_ids, (known) => ({ ...known, missing_since: null }));
    case 'ProductsDelisted': {
      const ids = event.data.products.map(({ product_id }) => product_id);
      return changing(state, ids, (known) => ({ ...known, listed: false, missing_since: null }));
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

export const storefront = { initial, evolve };

type Sighting = {
  readonly brand_id: string;
  readonly domain: string;
  readonly scan_id: string;
  readonly observed_at: string;
};

const hoursBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / HOUR_MS;

/** What the products that a scan shows say: which are new, which changed, and which are no longer missing. */
const sightings = (
  state: StorefrontState,
  at: Sighting,
  shown: ReadonlyMap<string, ObservedProduct>,
  restated: boolean,
): StorefrontEvent[] => {
  const first = state.completed_at === null ? 'baseline' : 'news';
  const met: Record<ProductsListed['data']['novelty'], Product[]> = { baseline: [], news: [], returned: [] };
  const changes: ProductChange[] = [];
  const seen: string[] = [];
  for (const said of shown.values()) {
    const known = state.products.get(said.id);
    const product = productOf(said, known?.product);
    if (!known?.listed) {
      met[known ? 'returned' : first].push(product);
      continue;
    }
    const change = productChange(known.product, product, restated);
    if (change) changes.push(change);
    if (known.missing_since !== null) seen.push(said.id);
  }
  return [
    ...(['baseline', 'news', 'returned'] as const).flatMap((novelty) =>
      boundedGroups(met[novelty], STOREFRONT_EVENT_MAX_CHARACTERS).map(
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

/** What a complete scan says by not showing a product. */
const absences = (
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

/** Decides a scan whose pages have all arrived. May be decided again after any interruption. */
export const recordStorefrontScan =
  (end: StorefrontScanEnd, products: readonly ObservedProduct[]) =>
  (state: StorefrontState): StorefrontEvent[] => {
    const { scan_id, domain, scanned_at: observed_at, currency, collector, pages } = end;
    if (state.scans.has(scan_id)) return [];
    const at = { brand_id: brandIdOf(domain), domain, scan_id, observed_at };
    const late = state.scanned_at !== null && observed_at < state.scanned_at;
    const complete = end.complete && products.length > 0;
    // A page that names a product twice means the first.
    const shown = new Map(products.toReversed().map((product) => [product.id, product]));
    const restated = currency !== null && state.currency !== null && currency !== state.currency;
    const events = late
      ? []
      : [
          ...sightings(state, at, new Map([...shown].toReversed()), restated),
          ...(complete ? absences(state, at, shown) : []),
        ];
    const after = events.reduce(evolve, state);
    const listed = [...after.products].filter(([, known]) => known.listed);
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
            ...(after.open.scan_id === scan_id ? after.open.tally : NOTHING),
          },
        },
      },
    ];
  };
