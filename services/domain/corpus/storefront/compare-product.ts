import type {
  PriceMove,
  Product,
  ProductChange,
  ProductDetails,
  ProductVariant,
  VariantChange,
} from '#contracts/events/corpus/storefront.ts';
import type { ObservedProduct, ObservedVariant } from '#contracts/observations/storefront-scan.ts';

/** What a page says of a product, held against what is known of it. What it leaves unsaid changes nothing. */

const inUtc = (timestamp: string | null): string | null =>
  timestamp === null ? null : new Date(timestamp).toISOString();

/** `52.0` and `52.00` are one price. */
const isSamePrice = (one: string | null, other: string | null): boolean =>
  one === other || (one !== null && other !== null && Number(one) === Number(other));

const saidOf = <Value>(said: Value | null, known: Value | null): Value | null => said ?? known;

const priceSaid = (said: string | null, known: string | null): string | null =>
  said === null || isSamePrice(said, known) ? known : said;

const variantOf = (said: ObservedVariant, known: ProductVariant | undefined): ProductVariant => ({
  variant_id: said.id,
  title: saidOf(said.title, known?.title ?? null),
  sku: saidOf(said.sku, known?.sku ?? null),
  price: priceSaid(said.price, known?.price ?? null),
  compare_at_price:
    said.compare_at_price === 'none'
      ? null
      : priceSaid(said.compare_at_price, known?.compare_at_price ?? null),
  available: saidOf(said.available, known?.available ?? null),
});

const detailsOf = (said: ObservedProduct, known: Product | undefined): ProductDetails => ({
  handle: said.handle,
  title: said.title,
  product_type: saidOf(said.product_type, known?.product_type ?? null),
  vendor: saidOf(said.vendor, known?.vendor ?? null),
  published_at: saidOf(inUtc(said.published_at), known?.published_at ?? null),
  image_url: saidOf(said.image_url, known?.image_url ?? null),
});

/** A page that names a variant twice means the first. */
const distinctVariants = (variants: readonly ObservedVariant[]): readonly ObservedVariant[] =>
  [...new Map(variants.toReversed().map((variant) => [variant.id, variant])).values()].toReversed();

/** The product as it stands after the page, with what was known where the page says nothing. */
export const productOf = (said: ObservedProduct, known?: Product): Product => {
  const variants = new Map(known?.variants.map((variant) => [variant.variant_id, variant]));
  return {
    product_id: said.id,
    ...detailsOf(said, known),
    variants: distinctVariants(said.variants).map((variant) => variantOf(variant, variants.get(variant.id))),
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

/** A blank that became known is no news. That a price to compare with came or went is: none is a price's own state. */
const isVariantNews = (change: VariantChange, restated: boolean): boolean => {
  const { title, sku, price, compare_at_price, available } = change;
  if ([title, sku, available].some((moved) => moved && moved.from !== null)) return true;
  return !restated && (compare_at_price !== undefined || (price !== undefined && price.from !== null));
};

/** `restated`: the scan tells prices in another currency, so that their change is no move of a price. */
export const productChange = (from: Product, to: Product, restated: boolean): ProductChange | null => {
  const known = new Map(from.variants.map((variant) => [variant.variant_id, variant]));
  const kept = new Set(to.variants.map(({ variant_id }) => variant_id));
  const details = DETAIL_FIELDS.filter((field) => from[field] !== to[field]);
  const listed = to.variants.filter(({ variant_id }) => !known.has(variant_id));
  const delisted = from.variants.flatMap(({ variant_id }) => (kept.has(variant_id) ? [] : [variant_id]));
  const changed = to.variants.flatMap((variant) => {
    const before = known.get(variant.variant_id);
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
    price_move: restated ? null : priceMoveOf(changed),
    news:
      listed.length + delisted.length > 0 ||
      details.some((field) => from[field] !== null) ||
      changed.some((change) => isVariantNews(change, restated)),
  };
};

const moved = <Value>(change: { readonly to: Value } | undefined, before: Value): Value =>
  change === undefined ? before : change.to;

const changedVariant = (variant: ProductVariant, change: VariantChange | undefined): ProductVariant =>
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

/** The product after a recorded change. */
export const changedProduct = (product: Product, change: ProductChange): Product => {
  const { details, order, variants_listed } = change;
  const changes = new Map(change.variants_changed.map((one) => [one.variant_id, one]));
  const changed = product.variants.map((variant) => changedVariant(variant, changes.get(variant.variant_id)));
  if (order === null) return { ...product, ...details, variants: changed };
  const variants = new Map([...changed, ...variants_listed].map((variant) => [variant.variant_id, variant]));
  return { ...product, ...details, variants: order.flatMap((id) => variants.get(id) ?? []) };
};
