import { ObservedProduct, STOREFRONT_PRODUCTS_MAX } from '#contracts/observations/storefront-scan.ts';
import { isPublicProduct, shopifyProductOf } from '#domain/shapes/shopify-product.ts';
import { storefrontObservations } from '#domain/shapes/storefront-observations.ts';
import { brokenJson } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import { isObject, type JsonObject, objectsAt } from '#domain/shapes/json-object.ts';
import type { RefusedRecord } from '../record.ts';
import { ownScanTime, timestampOf } from '../scan-key.ts';
import { type SideReader, timeOrRefusal } from '../side-record.ts';

const COLLECTOR = 'storefront-json';
/** Name of the member that has the records. */
const RECORD_MEMBERS: ReadonlySet<string> = new Set(['products']);
/** Maximum pages of a file whose own times are compared. The latest one is the time of the scan. */
const OWN_TIMES_MAX = 10_000;

/** Returns true for a catalogue page, `{"products": […]}`. Observations of this service have products and a `type`. */
export const isCataloguePage = (value: JsonObject): boolean =>
  Array.isArray(value['products']) &&
  value['type'] === undefined &&
  objectsAt(value, 'products').every((product) => Array.isArray(product['variants']));

/** Returns true when the text begins a catalogue page. Works for a page that exceeds the size limit of a record. */
export const isLongCataloguePage = (text: string): boolean =>
  /^\{\s*"products"\s*:\s*\[\s*\{\s*"id"\s*:\s*\d+\s*,\s*"title"/.test(text);

const productName = ({ id, handle }: JsonObject): string => `product ${String(handle ?? id)}`;

const refused = (
  { line, raw, number }: { readonly line: number; readonly raw: string; readonly number: number },
  what: string,
  advice: string,
): RefusedRecord => ({ kind: 'refused', line, raw, number, what, advice, adId: null });

/**
 * Reads pages of a public shop catalogue, `{"products": […]}`: one page, a list of pages, or one page per line. All
 * pages of a file are one scan. The products are buffered until the end, because the scan id depends on all of them. At
 * most `STOREFRONT_PRODUCTS_MAX` are accepted.
 *
 * A scan is complete only when the caller declares it and nothing was refused. A file of one collection is never
 * complete, because the shop may have other products.
 */
/** Returns the newest time. Files write them with several zones and precisions. A time that is none comes first, to be refused. */
const newestOf = (times: readonly string[], utcOffset: string | null): string | undefined => {
  const msOf = (time: string): number =>
    Date.parse(timestampOf(time, utcOffset) ?? '') || Number.POSITIVE_INFINITY;
  return times.toSorted((one, other) => msOf(one) - msOf(other)).at(-1);
};

export const readStorefrontJson: SideReader = async function* (source, context) {
  const { brandDomain } = context;
  if (brandDomain === null) return;
  const ownTimes: string[] = [];
  const products = new Map<string, ObservedProduct>();
  let complete = context.complete;
  let faults = 0;
  let leftOut = 0;
  let number = 0;
  for await (const item of jsonRecords(source, RECORD_MEMBERS)) {
    if (item.kind !== 'envelope') number += 1;
    if (item.kind === 'broken') {
      faults += 1;
      yield { ...brokenJson(item), number };
    } else if (item.kind === 'envelope') {
      if (isObject(item.value['collection'])) complete = false;
      const ownTime = ownScanTime(item.value);
      if (ownTime !== null && ownTimes.length < OWN_TIMES_MAX) ownTimes.push(ownTime);
    } else if (!isPublicProduct(item.value)) {
      leftOut += 1;
      yield { kind: 'left_out', line: item.line, reason: 'not published', name: productName(item.value) };
    } else {
      const parsed = ObservedProduct.safeParse(shopifyProductOf(item.value));
      const issue = parsed.error?.issues[0];
      if (issue || products.size >= STOREFRONT_PRODUCTS_MAX) {
        faults += 1;
        yield issue
          ? refused(
              { ...item, number },
              `is not a valid product: ${issue.path.join('.')}: ${issue.message}`,
              'fix the product and import it again',
            )
          : refused(
              { ...item, number },
              `exceeds the limit of ${STOREFRONT_PRODUCTS_MAX} products per shop`,
              'split the file',
            );
      } else if (parsed.data && !products.has(parsed.data.id)) {
        products.set(parsed.data.id, parsed.data);
      }
    }
  }
  if (source.damage() !== null) faults += 1;
  // When no product was taken, it is unknown what the shop offers. The file then yields no scan.
  if (products.size === 0 && faults + leftOut > 0) return;
  const scannedAt = timeOrRefusal(
    context,
    { line: 1, raw: null },
    { scanned_at: newestOf(ownTimes, context.times.utcOffset) },
  );
  if (typeof scannedAt !== 'string') {
    yield scannedAt;
    return;
  }
  const observations = storefrontObservations([...products.values()], {
    domain: brandDomain,
    scanned_at: scannedAt,
    complete: complete && faults === 0 && products.size > 0,
    currency: null,
    collector: COLLECTOR,
  });
  for (const observation of observations) yield { kind: 'observation', line: 1, raw: '', observation };
};
