import { type ObservedProduct, STOREFRONT_PRODUCTS_MAX } from '#contracts/observations/storefront-scan.ts';
import {
  isShopProduct,
  shopProductOf,
  UNKNOWN_STATUS,
  unlistedReasonOf,
} from '#domain/shapes/shop-product.ts';
import { storefrontObservations } from '#domain/shapes/observations.ts';
import { Completeness } from '../completeness.ts';
import { brokenJson, unknownShape } from '../parsing/json-faults.ts';
import { type JsonEntry, jsonRecords, PATH_SEPARATOR } from '../parsing/json-records.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { RecordFault, recordOrRefusal, type RefusedRecord, type Remark } from '../record.ts';
import { SCAN_MAX_MS } from '../row-times.ts';
import { ownScanTime, scanTimeOf } from '../scan-key.ts';
import { placesOf } from '../shapes/record-format.ts';
import type { SideReader } from '../side-record.ts';

const COLLECTOR = 'storefront-json';
/** Whether a product is published is known with the time of the scan. */
type Taken = Pick<Remark, 'line' | 'name'> & {
  readonly published_at: unknown;
  readonly product: ObservedProduct;
};

const productName = ({ id, handle, slug }: JsonObject): string => `product ${String(handle ?? slug ?? id)}`;

/** A collection or recommendations are only a part of the catalogue. */
const isPart = (item: JsonEntry & { readonly kind: 'record' | 'envelope' }): boolean =>
  isObject(item.value['collection']) ||
  item.path.split(PATH_SEPARATOR).some((name) => /^collections?$/.test(name)) ||
  'intent' in item.value;

const takenProduct = (value: JsonObject, count: number, currency: string | null) => {
  const read = shopProductOf(value);
  if ('fault' in read) throw new RecordFault(read.fault, read.advice);
  if (count >= STOREFRONT_PRODUCTS_MAX)
    throw new RecordFault(
      `exceeds the limit of ${STOREFRONT_PRODUCTS_MAX} products per shop`,
      'split the file',
    );
  if ([null, currency ?? read.currency].includes(read.currency)) return read;
  throw new RecordFault(
    `has prices in ${read.currency}, but products before it in ${currency}`,
    'import each currency as a file of its own',
  );
};

/**
 * Products of a file are one scan, held to the end because the scan id depends on all. It is complete only when
 * declared, without refusals, next page, collection, or pages of different times of day.
 */
export const readStorefrontJson: SideReader = async function* (source, context) {
  const { brandDomain } = context;
  if (brandDomain === null) return;
  const timeOf = (own: string | null): string | RefusedRecord =>
    recordOrRefusal({ line: 1, raw: null }, () => scanTimeOf(context.times, own));
  let [oldest, newest] = ['', ''];
  let refusedTime: RefusedRecord | null = null;
  const products = new Map<string, Taken>();
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
    const time = ownTime === null ? '' : timeOf(ownTime);
    if (typeof time !== 'string') refusedTime ??= time;
    else if (time !== '')
      [oldest, newest] = [oldest !== '' && oldest < time ? oldest : time, newest > time ? newest : time];
    if (item.kind === 'envelope') {
      completeness.envelope('', item);
      continue;
    }
    completeness.ad('', { page_id: null, is_active: null }, {});
    const isKnown = isShopProduct(value) || item.path !== '';
    const reason = isKnown ? unlistedReasonOf(value) : null;
    if (reason !== null) {
      leftOut += 1;
      if (reason === UNKNOWN_STATUS) complete = false;
      yield { kind: 'left_out', line, reason, name: productName(value) };
      continue;
    }
    const read = isKnown
      ? recordOrRefusal(item, () => takenProduct(value, products.size, currency))
      : { ...unknownShape(item, 'storefront-json'), number };
    if ('kind' in read) {
      faults += 1;
      yield read;
      continue;
    }
    currency ??= read.currency;
    const { id } = read.product;
    const published_at = value['published_at'] ?? value['publishedAt'];
    if (!products.has(id))
      products.set(id, { line, name: productName(value), published_at, product: read.product });
  }
  if (source.damage() !== null) faults += 1;
  // When no product was taken, it is unknown what the shop offers. The file then yields no scan.
  const isUnknown = (): boolean => products.size === 0 && faults + leftOut > 0;
  if (isUnknown()) return;
  const scannedAt = refusedTime ?? (newest === '' ? timeOf(null) : newest);
  if (typeof scannedAt !== 'string') {
    yield scannedAt;
    return;
  }
  for (const [id, { line, name, published_at }] of products) {
    const reason = unlistedReasonOf({ published_at }, scannedAt);
    if (reason === null) continue;
    products.delete(id);
    leftOut += 1;
    yield { kind: 'left_out', line, reason, name };
  }
  if (isUnknown()) return;
  if (Date.parse(scannedAt) - Date.parse(oldest) > SCAN_MAX_MS) complete = false;
  const taken = Array.from(products.values(), ({ product }) => product);
  const observations = storefrontObservations(taken, {
    domain: brandDomain,
    scanned_at: scannedAt,
    complete: complete && faults === 0 && taken.length > 0 && completeness.verdict().incomplete === null,
    currency,
    collector: COLLECTOR,
  });
  for (const observation of observations) yield { kind: 'observation', line: 1, raw: '', observation };
};
