import type {
  PriceMove,
  Product,
  ProductChange,
  ProductDetails,
  ProductVariant,
  VariantChange,
} from '#contracts/events/corpus/storefront.ts';
import type { ObservedProduct, ObservedVariant } from '#contracts/observations/storefront-scan.ts';

const toUtc = (timestamp: string | null): string | null =>
  timestamp === null ? null : new Date(timestamp).toISOString();

/** `52.0` and `52.00` are the same price. */
const isSamePrice = (one: string | null, other: string | null): boolean =>
  one === other || (one !== null && other !== null && Number(one) === Number(other));

const orExisting = <Value>(observed: Value | null, existing: Value | null): Value | null =>
  observed ?? existing;

const observedPrice = (observed: string | null, existing: string | null): string | null =>
  observed === null || isSamePrice(observed, existing) ? existing : observed;

const variantOf = (observed: ObservedVariant, existing: ProductVariant | undefined): ProductVariant => ({
  variant_id: observed.id,
  title: orExisting(observed.title, existing?.title ?? null),
  sku: orExisting(observed.sku, existing?.sku ?? null),
  price: observedPrice(observed.price, existing?.price ?? null),
  compare_at_price:
    observed.compare_at_price === 'none'
      ? null
      : observedPrice(observed.compare_at_price, existing?.compare_at_price ?? null),
  available: orExisting(observed.available, existing?.available ?? null),
});

const detailsOf = (observed: ObservedProduct, existing: Product | undefined): ProductDetails => ({
  handle: observed.handle,
  title: observed.title,
  product_type: orExisting(observed.product_type, existing?.product_type ?? null),
  vendor: orExisting(observed.vendor, existing?.vendor ?? null),
  published_at: orExisting(toUtc(observed.published_at), existing?.published_at ?? null),
  image_url: orExisting(observed.image_url, existing?.image_url ?? null),
});

/** The first one of an id counts. */
const distinctVariants = (variants: readonly ObservedVariant[]): readonly ObservedVariant[] =>
  [...new Map(variants.toReversed().map((variant) => [variant.id, variant])).values()].toReversed();

export const productOf = (observed: ObservedProduct, existing?: Product): Product => {
  const variants = new Map(existing?.variants.map((variant) => [variant.variant_id, variant]));
  return {
    product_id: observed.id,
    ...detailsOf(observed, existing),
    variants: distinctVariants(observed.variants).map((variant) =>
      variantOf(variant, variants.get(variant.id)),
    ),
  };
};

const VARIANT_FIELDS = ['title', 'sku', 'price', 'compare_at_price', 'available'] as const;
const DETAIL_FIELDS = ['handle', 'title', 'product_type', 'vendor', 'published_at', 'image_url'] as const;

const variantChange = (from: ProductVariant, to: ProductVariant): VariantChange | null => {
  const moved = VARIANT_FIELDS.filter((field) => from[field] !== to[field]);
  if (moved.length === 0) return null;
  return {
    variant_id: to.variant_id,
    ...Object.fromEntries(moved.map((field) => [field, { from: from[field], to: to[field] }])),
  };
};

/** `null` when no price moved. */
const priceMoveOf = (changes: readonly VariantChange[]): PriceMove | null => {
  let fell = false;
  let rose = false;
  for (const { price } of changes) {
    if (!price || price.from === null || price.to === null) continue;
    if (Number(price.to) < Number(price.from)) fell = true;
    else rose = true;
  }
  if (fell && rose) return 'mixed';
  return fell ? 'cheaper' : rose ? 'dearer' : null;
};

/** Filled blanks and prices in another currency are not news. A compare-at price that appears or disappears is. */
const isVariantNews = (change: VariantChange, currencyChanged: boolean): boolean => {
  const { title, sku, price, compare_at_price, available } = change;
  if ([title, sku, available].some((moved) => moved && moved.from !== null)) return true;
  return !currencyChanged && (compare_at_price !== undefined || (price !== undefined && price.from !== null));
};

/** `null` when nothing changed. `currencyChanged`: another currency than before, so amounts are not price moves. */
export const productChange = (from: Product, to: Product, currencyChanged: boolean): ProductChange | null => {
  const existing = new Map(from.variants.map((variant) => [variant.variant_id, variant]));
  const remaining = new Set(to.variants.map(({ variant_id }) => variant_id));
  const details = DETAIL_FIELDS.filter((field) => from[field] !== to[field]);
  const listed = to.variants.filter(({ variant_id }) => !existing.has(variant_id));
  const delisted = from.variants.flatMap(({ variant_id }) => (remaining.has(variant_id) ? [] : [variant_id]));
  const changed = to.variants.flatMap((variant) => {
    const before = existing.get(variant.variant_id);
    return (before && variantChange(before, variant)) ?? [];
  });
  const order = to.variants.map(({ variant_id }) => variant_id);
  const reordered = order.join() !== from.variants.map(({ variant_id }) => variant_id).join();
  if (details.length + changed.length === 0 && !reordered) return null;
  return {
    product_id: to.product_id,
    title: to.title,
    details: Object.fromEntries(details.map((field) => [field, to[field]])),
    order: reordered ? order : null,
    variants_listed: listed,
    variants_changed: changed,
    variants_delisted: delisted,
    price_move: currencyChanged ? null : priceMoveOf(changed),
    news:
      listed.length + delisted.length > 0 ||
      details.some((field) => from[field] !== null) ||
      changed.some((change) => isVariantNews(change, currencyChanged)),
  };
};

const moved = <Value>(change: { readonly to: Value } | undefined, before: Value): Value =>
  change === undefined ? before : change.to;

const applyVariantChange = (variant: ProductVariant, change: VariantChange | undefined): ProductVariant =>
  change === undefined
    ? variant
    : {
        variant_id: variant.variant_id,
        title: moved(change.title, variant.title),
        sku: moved(change.sku, variant.sku),
        price: moved(change.price, variant.price),
        compare_at_price: moved(change.compare_at_price, variant.compare_at_price),
        available: moved(change.available, variant.available),
      };

export const changedProduct = (product: Product, change: ProductChange): Product => {
  const { details, order, variants_listed } = change;
  const changes = new Map(change.variants_changed.map((one) => [one.variant_id, one]));
  const changed = product.variants.map((variant) =>
    applyVariantChange(variant, changes.get(variant.variant_id)),
  );
  if (order === null) return { ...product, ...details, variants: changed };
  const variants = new Map([...changed, ...variants_listed].map((variant) => [variant.variant_id, variant]));
  return { ...product, ...details, variants: order.flatMap((id) => variants.get(id) ?? []) };
};
