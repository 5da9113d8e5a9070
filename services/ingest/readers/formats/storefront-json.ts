import { ObservedProduct, STOREFRONT_PRODUCTS_MAX } from '#contracts/observations/storefront-scan.ts';
import {
  hasMoreVariants,
  isShopifyProduct,
  priceUnitOf,
  shopifyCurrencyOf,
  shopifyProductOf,
} from '#domain/shapes/shopify-product.ts';
import { storefrontObservations } from '#domain/shapes/storefront-observations.ts';
import {
  hasPriceUnit,
  isWoocommerceProduct,
  woocommerceCurrencyOf,
  woocommerceProductOf,
} from '#domain/shapes/woocommerce-product.ts';
import { Completeness } from '../completeness.ts';
import { brokenJson, unknownShape } from '../parsing/json-faults.ts';
import { type JsonEntry, jsonRecords } from '../parsing/json-records.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { RecordFault, refusal } from '../record.ts';
import { SCAN_MAX_MS } from '../row-times.ts';
import { ownScanTime, timestampOf } from '../scan-key.ts';
import { placesOf } from '../shapes/record-format.ts';
import { type SideReader, timeOrRefusal } from '../side-record.ts';

const COLLECTOR = 'storefront-json';
/** Maximum pages of a file whose own times are compared. The latest one is the time of the scan. */
const OWN_TIMES_MAX = 10_000;

const UNKNOWN_STATUS = 'unknown status';
/** Words of shop systems for a product that visitors cannot see, or only by its address, and for one that they see. */
const UNLISTED = ['draft', 'archived', 'unlisted', 'pending', 'private', 'future', 'trash'];
const LISTED = ['active', 'publish', 'published'];

/** Returns why a product of a shop's own export is not in its catalogue. `null` for one that visitors can see. */
const unlistedReasonOf = (product: JsonObject): string | null => {
  const { status, published_at: published = product['publishedAt'] } = product;
  const word = typeof status === 'string' ? status.trim().toLowerCase() : status;
  const unlisted = UNLISTED.find((one) => one === word);
  if (unlisted !== undefined) return unlisted;
  if (![undefined, null, '', ...LISTED].includes(word as string)) return UNKNOWN_STATUS;
  return published === null ? 'not published' : null;
};

const productName = ({ id, handle, slug }: JsonObject): string => `product ${String(handle ?? slug ?? id)}`;

type Listed = { readonly product: ObservedProduct; readonly currency: string | null };

/** Reads one product of a known shape. Throws `RecordFault` for one that is not valid, or has prices of an unknown unit. */
const listedProduct = (value: JsonObject): Listed => {
  const isOfWoocommerce = isWoocommerceProduct(value);
  if (isOfWoocommerce ? !hasPriceUnit(value) : priceUnitOf(value) === null)
    throw new RecordFault(
      'has prices in whole numbers, and no member that shows whether they are cents',
      isOfWoocommerce
        ? 'add currency_minor_unit to its prices'
        : 'write its prices as texts with their decimals, such as "59.90"',
    );
  if (hasMoreVariants(value))
    throw new RecordFault('has more variants than the page shows', 'export all variants of the product');
  const parsed = ObservedProduct.safeParse(
    isOfWoocommerce ? woocommerceProductOf(value) : shopifyProductOf(value),
  );
  const issue = parsed.error?.issues[0];
  if (parsed.data === undefined)
    throw new RecordFault(
      `is not a valid product: ${issue?.path.join('.')}: ${issue?.message}`,
      'fix the product and import it again',
    );
  return {
    product: parsed.data,
    currency: isOfWoocommerce ? woocommerceCurrencyOf(value) : shopifyCurrencyOf(value),
  };
};

/** Returns true when a page says that it is a part of the catalogue: a collection or recommendations. */
const isPart = (item: JsonEntry & { readonly kind: 'record' | 'envelope' }): boolean =>
  isObject(item.value['collection']) ||
  item.path.split('.').some((name) => /^collections?$/.test(name)) ||
  'intent' in item.value;

/** Returns times in order. Files write them with several zones and precisions. A time that is none comes last, to be refused. */
const inOrder = (times: readonly string[], utcOffset: string | null): readonly string[] => {
  const msOf = (time: string): number =>
    Date.parse(timestampOf(time, utcOffset) ?? '') || Number.POSITIVE_INFINITY;
  return times.toSorted((one, other) => msOf(one) - msOf(other));
};

/**
 * Reads products of a shop: pages of its public catalogue, of its scripts or of its interfaces, lists of products, or one
 * product per line. All products of a file are one scan. They are buffered until the end, because the scan id depends
 * on all of them. At most `STOREFRONT_PRODUCTS_MAX` are accepted.
 *
 * A scan is complete only when the caller declares it and nothing was refused. A file of one collection, of pages at
 * different times of day, or with a next page is never complete, because the shop may have other products.
 */
export const readStorefrontJson: SideReader = async function* (source, context) {
  const { brandDomain } = context;
  if (brandDomain === null) return;
  const ownTimes: string[] = [];
  const products = new Map<string, ObservedProduct>();
  let currency: string | null = null;
  const completeness = new Completeness();
  let complete = context.complete;
  let faults = 0;
  let leftOut = 0;
  for await (const item of jsonRecords(source, placesOf('storefront-json'))) {
    if (item.kind === 'broken') {
      faults += 1;
      yield { ...brokenJson(item), number: item.number };
      continue;
    }
    const { line, number, value } = item;
    if (isPart(item)) complete = false;
    const ownTime = ownScanTime(value);
    if (ownTime !== null && ownTimes.length < OWN_TIMES_MAX) ownTimes.push(ownTime);
    if (item.kind === 'envelope') {
      completeness.envelope('', value, item.depth);
      continue;
    }
    completeness.ad('', { page_id: null, is_active: null });
    if (item.path === '' && !isShopifyProduct(value) && !isWoocommerceProduct(value)) {
      faults += 1;
      yield { ...unknownShape(item, 'storefront-json', null), number };
      continue;
    }
    const reason = unlistedReasonOf(value);
    if (reason !== null) {
      leftOut += 1;
      if (reason === UNKNOWN_STATUS) complete = false;
      yield { kind: 'left_out', line, reason, name: productName(value) };
      continue;
    }
    try {
      const listed = listedProduct(value);
      if (products.size >= STOREFRONT_PRODUCTS_MAX)
        throw new RecordFault(
          `exceeds the limit of ${STOREFRONT_PRODUCTS_MAX} products per shop`,
          'split the file',
        );
      if (currency !== null && listed.currency !== null && listed.currency !== currency)
        throw new RecordFault(
          `has prices in ${listed.currency}, but products before it in ${currency}`,
          'import each currency as a file of its own',
        );
      currency ??= listed.currency;
      if (!products.has(listed.product.id)) products.set(listed.product.id, listed.product);
    } catch (error) {
      if (!(error instanceof RecordFault)) throw error;
      faults += 1;
      yield refusal(item, error.message, error.advice);
    }
  }
  if (source.damage() !== null) faults += 1;
  // When no product was taken, it is unknown what the shop offers. The file then yields no scan.
  if (products.size === 0 && faults + leftOut > 0) return;
  const times = inOrder(ownTimes, context.times.utcOffset);
  const scannedAt = timeOrRefusal(context, { line: 1, raw: null }, { scanned_at: times.at(-1) });
  if (typeof scannedAt !== 'string') {
    yield scannedAt;
    return;
  }
  const oldest = timeOrRefusal(context, { line: 1, raw: null }, { scanned_at: times[0] });
  if (typeof oldest === 'string' && Date.parse(scannedAt) - Date.parse(oldest) > SCAN_MAX_MS)
    complete = false;
  const observations = storefrontObservations([...products.values()], {
    domain: brandDomain,
    scanned_at: scannedAt,
    complete: complete && faults === 0 && products.size > 0 && completeness.verdict().incomplete === null,
    currency,
    collector: COLLECTOR,
  });
  for (const observation of observations) yield { kind: 'observation', line: 1, raw: '', observation };
};
