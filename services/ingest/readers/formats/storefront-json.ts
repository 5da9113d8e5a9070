import { type ObservedProduct, STOREFRONT_PRODUCTS_MAX } from '#contracts/observations/storefront-scan.ts';
import {
  isShopProduct,
  type ShopProduct,
  shopProductOf,
  UNKNOWN_STATUS,
  unlistedReasonOf,
} from '#domain/shapes/shop-product.ts';
import { storefrontObservations } from '#domain/shapes/observations.ts';
import { Completeness } from '../completeness.ts';
import { brokenJson, unknownShape } from '../parsing/json-faults.ts';
import { type JsonEntry, jsonRecords, PATH_SEPARATOR } from '../parsing/json-records.ts';
import { isObject, type JsonObject } from '#domain/shapes/json-object.ts';
import { refusal } from '../record.ts';
import { SCAN_MAX_MS } from '../row-times.ts';
import { ownScanTime, timestampOf } from '../scan-key.ts';
import { placesOf } from '../shapes/record-format.ts';
import { type SideReader, timeOrRefusal } from '../side-record.ts';

const COLLECTOR = 'storefront-json';
/** Beyond this, own times of pages are not compared. The latest one is the time of the scan. */
const OWN_TIMES_MAX = 10_000;

const productName = ({ id, handle, slug }: JsonObject): string => `product ${String(handle ?? slug ?? id)}`;

/** A collection or recommendations are only a part of the catalogue. */
const isPart = (item: JsonEntry & { readonly kind: 'record' | 'envelope' }): boolean =>
  isObject(item.value['collection']) ||
  item.path.split(PATH_SEPARATOR).some((name) => /^collections?$/.test(name)) ||
  'intent' in item.value;

const takenProduct = (value: JsonObject, count: number, currency: string | null): ShopProduct => {
  const read = shopProductOf(value);
  if ('fault' in read) return read;
  if (count >= STOREFRONT_PRODUCTS_MAX)
    return {
      fault: `exceeds the limit of ${STOREFRONT_PRODUCTS_MAX} products per shop`,
      advice: 'split the file',
    };
  return [null, currency ?? read.currency].includes(read.currency)
    ? read
    : {
        fault: `has prices in ${read.currency}, but products before it in ${currency}`,
        advice: 'import each currency as a file of its own',
      };
};

/** Sorted. An invalid time comes last, to be refused. */
const inOrder = (times: readonly string[], utcOffset: string | null): readonly string[] => {
  const msOf = (time: string): number =>
    Date.parse(timestampOf(time, utcOffset) ?? '') || Number.POSITIVE_INFINITY;
  return times.toSorted((one, other) => msOf(one) - msOf(other));
};

/**
 * Products of a file are one scan, held to the end because the scan id depends on all. It is complete only when
 * declared, without refusals, next page, collection, or pages of different times of day.
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
      completeness.envelope('', item);
      continue;
    }
    completeness.ad('', { page_id: null, is_active: null });
    const isKnown = isShopProduct(value) || item.path !== '';
    const reason = isKnown ? unlistedReasonOf(value) : null;
    if (reason !== null) {
      leftOut += 1;
      if (reason === UNKNOWN_STATUS) complete = false;
      yield { kind: 'left_out', line, reason, name: productName(value) };
      continue;
    }
    const read: ShopProduct | null = isKnown ? takenProduct(value, products.size, currency) : null;
    if (read !== null && 'product' in read) {
      currency ??= read.currency;
      if (!products.has(read.product.id)) products.set(read.product.id, read.product);
    } else {
      faults += 1;
      yield read === null
        ? { ...unknownShape(item, 'storefront-json', null), number }
        : refusal(item, read.fault, read.advice);
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
