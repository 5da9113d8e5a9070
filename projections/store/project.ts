import type {
  Product,
  ProductChange,
  ProductVariant,
  StorefrontEvent,
  StorefrontScanRecorded,
  VariantChange,
} from '#contracts/events/corpus/storefront.ts';
import type { StoreChange, StoreScan } from '#contracts/resources/corpus/store.ts';
import { CUT_MARK } from '#contracts/values/text.ts';
import { type Change, projection, type Row } from '../define-projection.ts';

export const CHANGED_VARIANTS_SHOWN_MAX = 20;

const variantRow = ({ variant_id: _id, ...details }: ProductVariant): Row => details;

const listProduct = (brand_id: string, domain: string, observedAt: string, product: Product): Change[] => {
  const { product_id, variants, ...details } = product;
  return [
    {
      kind: 'upsert',
      table: 'product',
      key: { brand_id, product_id },
      set: {
        ...details,
        number: product_id,
        listed: true,
        domain,
        variant_ids: variants.map(({ variant_id }) => variant_id),
        first_seen_at: observedAt,
        changed_at: null,
        missing_since: null,
      },
    },
    ...variants.map(
      (variant): Change => ({
        kind: 'upsert',
        table: 'variant',
        key: { brand_id, product_id, variant_id: variant.variant_id },
        set: variantRow(variant),
      }),
    ),
  ];
};

const relistProduct = (brand_id: string, domain: string, observedAt: string, product: Product): Change[] =>
  listProduct(brand_id, domain, observedAt, product).map((change) => {
    if (change.kind !== 'upsert' || change.table !== 'product') return change;
    const { first_seen_at: _first, ...set } = change.set;
    return { kind: 'update', table: 'product', key: change.key, set: { ...set, changed_at: observedAt } };
  });

/** Each set of columns is a statement of its own. */
const variantChanges = (brand_id: string, product_id: string, change: ProductChange): Change[] => [
  ...change.variants_listed.map(
    (variant): Change => ({
      kind: 'upsert',
      table: 'variant',
      key: { brand_id, product_id, variant_id: variant.variant_id },
      set: variantRow(variant),
    }),
  ),
  ...change.variants_changed.map(
    ({ variant_id, ...moved }): Change => ({
      kind: 'update',
      table: 'variant',
      key: { brand_id, product_id, variant_id },
      set: Object.fromEntries(Object.entries(moved).map(([field, { to }]) => [field, to])),
    }),
  ),
  ...change.variants_delisted.map(
    (variant_id): Change => ({ kind: 'delete', table: 'variant', key: { brand_id, product_id, variant_id } }),
  ),
];

const productChanges = (brand_id: string, observedAt: string, change: ProductChange): Change[] => {
  const { product_id, details, order, news } = change;
  const set: Row = {
    ...details,
    ...(order === null ? {} : { variant_ids: order }),
    ...(news ? { changed_at: observedAt } : {}),
  };
  return [
    ...(Object.keys(set).length === 0
      ? []
      : [{ kind: 'update', table: 'product', key: { brand_id, product_id }, set } as Change]),
    ...variantChanges(brand_id, product_id, change),
  ];
};

const refreshItem = (brand_id: string, product_id: string): Change => ({
  kind: 'refresh',
  statement: 'compose',
  row: { brand_id, product_id },
});

const shownVariant = ({ variant_id, title: _title, sku: _sku, ...moved }: VariantChange) => ({
  variant_id,
  price: moved.price ?? null,
  compare_at_price: moved.compare_at_price ?? null,
  available: moved.available ?? null,
});

const recordChange = (brand_id: string, observed_at: string, item: StoreChange): Change => ({
  kind: 'upsert',
  table: 'change',
  key: { brand_id, observed_at, product_id: item.product_id, type: item.type },
  set: { item: JSON.stringify(item) },
});

const NO_DETAILS: Omit<StoreChange, 'type' | 'observed_at' | 'product_id' | 'title'> = {
  price_move: null,
  details: [],
  variants_listed: 0,
  variants_delisted: 0,
  variants_changed: 0,
  variants: [],
};

const shownChange = (observed_at: string, change: ProductChange): StoreChange => ({
  type: 'changed',
  observed_at,
  product_id: change.product_id,
  title: change.title,
  price_move: change.price_move,
  details: Object.keys(change.details).toSorted() as StoreChange['details'],
  variants_listed: change.variants_listed.length,
  variants_delisted: change.variants_delisted.length,
  variants_changed: change.variants_changed.length,
  variants: change.variants_changed.slice(0, CHANGED_VARIANTS_SHOWN_MAX).map(shownVariant),
});

const scanItem = ({ data }: StorefrontScanRecorded): StoreScan => ({
  scanned_at: data.observed_at,
  complete: data.complete,
  pages: data.pages,
  products_seen: data.totals.seen,
  currency: data.currency,
  collector: data.collector,
});

export const store = projection<StorefrontEvent>({
  name: 'store',
  version: 4,
  prefixes: ['storefront-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    // Deletes the variants that a returned product no longer has.
    drop_variants: {
      columns: { brand_id: 'uuid', product_id: 'text', variant_ids: 'text[]' },
      touches: ['variant'],
      sql: `
        delete from variant v using :input i
        where v.brand_id = i.brand_id and v.product_id = i.product_id and v.variant_id <> all (i.variant_ids)`,
    },
    compose: {
      columns: { brand_id: 'uuid', product_id: 'text' },
      touches: ['product', 'variant'],
      sql: `
        update product p set item = c.item
        from (
          select k.brand_id, k.product_id, case when k.listed then row_to_json(shown)::text end as item
          from :input i join product k using (brand_id, product_id)
          cross join lateral (
            select bool_or(v.available) as available,
              coalesce(json_agg(row_to_json(shown) order by t.place), '[]'::json) as variants
            from unnest(k.variant_ids) with ordinality t(variant_id, place)
            join variant v on v.brand_id = k.brand_id and v.product_id = k.product_id and v.variant_id = t.variant_id
            cross join lateral (
              select v.variant_id, v.title, v.sku, v.price, v.compare_at_price, v.available
            ) shown
          ) v
          cross join lateral (
            select k.product_id, k.handle, k.title, 
              case when right(k.handle, 1) <> '${CUT_MARK}'
                then 'https://' || k.domain || '/products/' || k.handle end as url,
              k.product_type, k.vendor, k.image_url, k.published_at,
              case when k.missing_since is null then 'listed' else 'missing' end as status, k.missing_since,
              k.first_seen_at, k.changed_at, v.available, v.variants
          ) shown
        ) c
        where p.brand_id = c.brand_id and p.product_id = c.product_id`,
    },
  },
  project: (event): readonly Change[] => {
    const { brand_id, observed_at } = event.data;
    const simpleChange = (
      type: 'listed' | 'returned' | 'delisted',
      { product_id, title }: { product_id: string; title: string },
    ) => recordChange(brand_id, observed_at, { type, observed_at, product_id, title, ...NO_DETAILS });
    switch (event.type) {
      case 'ProductsListed': {
        const { novelty, products, domain } = event.data;
        return products.flatMap((product) => {
          const { product_id, variants } = product;
          const variant_ids = variants.map(({ variant_id }) => variant_id);
          if (novelty !== 'returned') {
            return [
              ...listProduct(brand_id, domain, observed_at, product),
              ...(novelty === 'news' ? [simpleChange('listed', product)] : []),
              refreshItem(brand_id, product_id),
            ];
          }
          return [
            ...relistProduct(brand_id, domain, observed_at, product),
            { kind: 'run', statement: 'drop_variants', row: { brand_id, product_id, variant_ids } },
            simpleChange('returned', product),
            refreshItem(brand_id, product_id),
          ];
        });
      }
      case 'ProductsChanged':
        return event.data.changes.flatMap((change) => [
          ...productChanges(brand_id, observed_at, change),
          ...(change.news ? [recordChange(brand_id, observed_at, shownChange(observed_at, change))] : []),
          refreshItem(brand_id, change.product_id),
        ]);
      case 'ProductsMissed':
      case 'ProductsSeen': {
        const missing_since = event.type === 'ProductsMissed' ? observed_at : null;
        return event.data.product_ids.flatMap((product_id): Change[] => [
          { kind: 'update', table: 'product', key: { brand_id, product_id }, set: { missing_since } },
          refreshItem(brand_id, product_id),
        ]);
      }
      case 'ProductsDelisted':
        return event.data.products.flatMap((product): Change[] => [
          {
            kind: 'update',
            table: 'product',
            key: { brand_id, product_id: product.product_id },
            set: { listed: false, missing_since: null },
          },
          simpleChange('delisted', product),
          refreshItem(brand_id, product.product_id),
        ]);
      case 'StorefrontScanRecorded': {
        const { scan_id, late_arrival, complete } = event.data;
        const { baseline: _baseline, ...counts } = event.data.totals;
        const set = { observed_at, late_arrival, complete, ...counts, item: JSON.stringify(scanItem(event)) };
        return [{ kind: 'upsert', table: 'scan', key: { brand_id, scan_id }, set }];
      }
    }
  },
});
