import type { Product, StorefrontEvent } from '#contracts/events/corpus/storefront.ts';
import { type ProductState, storefront, type StorefrontState } from '#domain/corpus/storefront/state.ts';
import type { Database } from '#platform/postgres/pool.ts';

/** Decided events are folded at once; `revision` is that of the recorded ones. Has only loaded products. */
export type OpenStorefront = {
  readonly domain: string;
  revision: bigint;
  state: StorefrontState;
  readonly changed: { readonly products: Set<string>; readonly scans: Set<string> };
};

export const productIdsOf = (event: StorefrontEvent): readonly string[] => {
  switch (event.type) {
    case 'ProductsListed':
    case 'ProductsDelisted':
      return event.data.products.map(({ product_id }) => product_id);
    case 'ProductsChanged':
      return event.data.changes.map(({ product_id }) => product_id);
    case 'ProductsMissed':
    case 'ProductsSeen':
      return event.data.product_ids;
    case 'StorefrontScanRecorded':
      return [];
  }
};

/** May be stale, which the next append's expected revision detects. Revision -1n: the tables lack the shop. */
export const openStorefront = async (
  database: Database,
  domain: string,
  scanId: string,
): Promise<OpenStorefront> => {
  const [shop, recorded] = await Promise.all([
    database.query<
      Pick<StorefrontState, 'listed' | 'missing' | 'scanned_at' | 'completed_at' | 'currency'> & {
        revision: string;
        open: StorefrontState['open'] | null;
      }
    >(
      `select revision, listed, missing, scanned_at, completed_at, currency, open
       from ingest.storefront where domain = $1`,
      [domain],
    ),
    database.query('select from ingest.recorded_storefront_scan where scan_id = $1 and domain = $2', [
      scanId,
      domain,
    ]),
  ]);
  const [row] = shop.rows;
  const { initial } = storefront;
  const state: StorefrontState = row
    ? {
        ...initial,
        listed: row.listed,
        missing: row.missing,
        scanned_at: row.scanned_at,
        completed_at: row.completed_at,
        currency: row.currency,
        open: row.open ?? initial.open,
      }
    : initial;
  return {
    domain,
    revision: row ? BigInt(row.revision) : -1n,
    state: recorded.rows.length > 0 ? { ...state, scans: state.scans.with(scanId, true) } : state,
    changed: { products: new Set(), scans: new Set() },
  };
};

export const loadProducts = async (
  database: Database,
  shop: OpenStorefront,
  productIds: readonly string[],
): Promise<void> => {
  const absent = productIds.filter((id) => !shop.state.products.has(id));
  if (absent.length === 0) return;
  const { rows } = await database.query<{ product: string; listed: boolean; missing_since: string | null }>({
    name: 'ingest_load_products',
    text: `select product, listed, missing_since from ingest.storefront_product
           where domain = $1 and product_id = any($2::text[])`,
    values: [shop.domain, absent],
  });
  if (rows.length === 0) return;
  const products = new Map(shop.state.products);
  for (const { product, listed, missing_since } of rows) {
    const loaded: ProductState = { product: JSON.parse(product) as Product, listed, missing_since };
    products.set(loaded.product.product_id, loaded);
  }
  shop.state = { ...shop.state, products };
};

const SLICE_PRODUCTS = 500;

/** Listed products not in `shown`, in groups of at most `maxCharacters` of JSON; a longer product is its own group. */
export const absentProductIds = async function* (
  database: Database,
  domain: string,
  shown: ReadonlySet<string>,
  maxCharacters: number,
): AsyncGenerator<readonly string[]> {
  for (let after = ''; ; ) {
    const { rows } = await database.query<{ product_id: string; characters: number }>(
      `select product_id, length(product) as characters from ingest.storefront_product
       where domain = $1 and listed and product_id > $2 order by product_id limit ${SLICE_PRODUCTS}`,
      [domain, after],
    );
    let group: string[] = [];
    let total = 0;
    for (const { product_id, characters } of rows) {
      if (shown.has(product_id)) continue;
      if (group.length > 0 && total + characters > maxCharacters) {
        yield group;
        group = [];
        total = 0;
      }
      group.push(product_id);
      total += characters;
    }
    if (group.length > 0) yield group;
    if (rows.length < SLICE_PRODUCTS) return;
    after = rows.at(-1)?.product_id ?? after;
  }
};

/** Every product of the events must be loaded, except products that an event lists. */
export const foldStorefrontEvents = (shop: OpenStorefront, events: readonly StorefrontEvent[]): void => {
  for (const event of events) {
    shop.state = storefront.evolve(shop.state, event);
    for (const id of productIdsOf(event)) if (shop.state.products.has(id)) shop.changed.products.add(id);
    if (event.type === 'StorefrontScanRecorded') shop.changed.scans.add(event.data.scan_id);
  }
};

export const dropUnchangedProducts = (shop: OpenStorefront): void => {
  const products = new Map([...shop.state.products].filter(([id]) => shop.changed.products.has(id)));
  shop.state = { ...shop.state, products };
};

// Writes nothing when another process has moved the tables' revision.
const SAVE = `
  with current as (
    insert into ingest.storefront as s (domain, revision, listed, missing, scanned_at, completed_at, currency, open)
    values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict (domain) do update set revision = excluded.revision, listed = excluded.listed,
      missing = excluded.missing, scanned_at = excluded.scanned_at, completed_at = excluded.completed_at,
      currency = excluded.currency, open = excluded.open
    where s.revision = $14
    returning 1
  ), products as (
    insert into ingest.storefront_product (domain, product_id, listed, missing_since, product)
    select $1, i.product_id, i.listed, i.missing_since, i.product
    from unnest($9::text[], $10::boolean[], $11::text[], $12::text[]) as i(product_id, listed, missing_since, product)
    where exists (select from current)
    on conflict (domain, product_id) do update set listed = excluded.listed,
      missing_since = excluded.missing_since, product = excluded.product
  ), scans as (
    insert into ingest.recorded_storefront_scan (scan_id, domain)
    select i.scan_id, $1 from unnest($13::uuid[]) as i(scan_id) where exists (select from current)
    on conflict do nothing
  )
  select from current`;

/** Also drops the loaded products. `false`: another process wrote first. After a crash the next scan catches up. */
export const saveStorefront = async (
  database: Database,
  shop: OpenStorefront,
  revision: bigint,
): Promise<boolean> => {
  const { state, domain, changed } = shop;
  const products = [...changed.products].flatMap((id) => state.products.get(id) ?? []);
  const { rows } = await database.query({
    name: 'ingest_save_storefront',
    text: SAVE,
    values: [
      domain,
      revision,
      state.listed,
      state.missing,
      state.scanned_at,
      state.completed_at,
      state.currency,
      JSON.stringify(state.open),
      products.map(({ product }) => product.product_id),
      products.map(({ listed }) => listed),
      products.map(({ missing_since }) => missing_since),
      products.map(({ product }) => JSON.stringify(product)),
      [...changed.scans],
      shop.revision,
    ],
  });
  shop.revision = revision;
  changed.products.clear();
  changed.scans.clear();
  shop.state = { ...state, products: new Map() };
  return rows.length > 0;
};
