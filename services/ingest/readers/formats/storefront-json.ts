import { createHash } from 'node:crypto';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import {
  ObservedProduct,
  type ObservedVariant,
  STOREFRONT_PAGE_PRODUCTS_MAX,
  STOREFRONT_PRODUCTS_MAX,
} from '#contracts/observations/storefront-scan.ts';
import { scanIdOf } from '#domain/ids.ts';
import { brokenJson } from '../parsing/json-faults.ts';
import { jsonRecords } from '../parsing/json-records.ts';
import { isObject, type JsonObject, objectAt, objectsAt } from '../parsing/json-value.ts';
import type { RefusedRecord } from '../record.ts';
import { ownScanTime, timestampOf } from '../scan-key.ts';
import { type SideObservation, type SideReader, timeOrRefusal } from '../side-record.ts';

const COLLECTOR = 'storefront-json';
/** Name of the member that has the records. */
const RECORD_MEMBERS: ReadonlySet<string> = new Set(['products']);
/** Bytes reserved in an observation for everything except its products. */
const FRAME_BYTES = 1_000;
const ID_MAX_DIGITS = 20;
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

const textAt = (value: JsonObject, key: string): string | null => {
  const text = value[key];
  return typeof text === 'string' && text.trim() !== '' ? text : null;
};

const idAt = (value: JsonObject): string => {
  const { id } = value;
  return typeof id === 'number' || typeof id === 'string' ? String(id).slice(0, ID_MAX_DIGITS + 1) : '';
};

const priceAt = (value: JsonObject, key: string): string | null => {
  const price = value[key];
  return typeof price === 'number' ? String(price) : textAt(value, key);
};

const timestampAt = (value: JsonObject, key: string): string | null => {
  const time = Date.parse(textAt(value, key) ?? '');
  return Number.isNaN(time) ? null : new Date(time).toISOString();
};

const imageOf = (product: JsonObject): string | null => {
  const [first] = objectsAt(product, 'images');
  const source = textAt(first ?? objectAt(product, 'image'), 'src')?.replace(/^\/\//, 'https://') ?? null;
  return source !== null && /^https?:/i.test(source) && URL.canParse(source) ? source : null;
};

const variantOf = (variant: JsonObject): ObservedVariant => ({
  id: idAt(variant),
  title: textAt(variant, 'title'),
  sku: textAt(variant, 'sku'),
  price: priceAt(variant, 'price'),
  // In this format, `null` means "no such price", and a missing member means "unknown".
  compare_at_price: variant['compare_at_price'] === null ? 'none' : priceAt(variant, 'compare_at_price'),
  available: typeof variant['available'] === 'boolean' ? variant['available'] : null,
});

const productOf = (product: JsonObject): ObservedProduct => ({
  id: idAt(product),
  handle: textAt(product, 'handle') ?? '',
  title: textAt(product, 'title') ?? '',
  product_type: textAt(product, 'product_type'),
  vendor: textAt(product, 'vendor'),
  published_at: timestampAt(product, 'published_at'),
  image_url: imageOf(product),
  variants: objectsAt(product, 'variants').map(variantOf),
});

/** Returns false for drafts. A shop's own export includes them, but visitors cannot see them. */
const isPublic = (product: JsonObject): boolean =>
  product['status'] === undefined || product['status'] === 'active';

const refused = (
  { line, raw, number }: { readonly line: number; readonly raw: string; readonly number: number },
  what: string,
  advice: string,
): RefusedRecord => ({ kind: 'refused', line, raw, number, what, advice, adId: null });

/** Splits products into pages that each fit into one observation. */
const pagesOf = (products: readonly ObservedProduct[]): readonly (readonly ObservedProduct[])[] => {
  const pages: ObservedProduct[][] = [];
  let page: ObservedProduct[] = [];
  let bytes = FRAME_BYTES;
  for (const product of products) {
    const size = Buffer.byteLength(JSON.stringify(product)) + 1;
    const full = page.length >= STOREFRONT_PAGE_PRODUCTS_MAX || bytes + size > OBSERVATION_MAX_BYTES;
    if (page.length > 0 && full) {
      pages.push(page);
      page = [];
      bytes = FRAME_BYTES;
    }
    page.push(product);
    bytes += size;
  }
  if (page.length > 0) pages.push(page);
  return pages;
};

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
    } else if (isPublic(item.value)) {
      const parsed = ObservedProduct.safeParse(productOf(item.value));
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
  // When all products were refused, it is unknown what the shop offers. The file then yields no scan.
  if (products.size === 0 && faults > 0) return;
  const scannedAt = timeOrRefusal(
    context,
    { line: 1, raw: null },
    { scanned_at: newestOf(ownTimes, context.times.utcOffset) },
  );
  if (typeof scannedAt !== 'string') {
    yield scannedAt;
    return;
  }
  yield* scanOf([...products.values()], {
    domain: brandDomain,
    scanned_at: scannedAt,
    complete: complete && faults === 0,
  });
};

function* scanOf(
  products: readonly ObservedProduct[],
  scan: { readonly domain: string; readonly scanned_at: string; readonly complete: boolean },
): Generator<SideObservation> {
  const { domain, scanned_at, complete } = scan;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([complete, products]))
    .digest('hex');
  const key = { scan_id: scanIdOf(domain, scanned_at, fingerprint), domain, scanned_at };
  const pages = pagesOf(products);
  for (const [page, pageProducts] of pages.entries()) {
    const observation = { type: 'storefront.scan' as const, ...key, page, products: [...pageProducts] };
    yield { kind: 'observation', line: 1, raw: '', observation };
  }
  yield {
    kind: 'observation',
    line: 1,
    raw: '',
    observation: {
      type: 'storefront.scan_end',
      ...key,
      pages: pages.length,
      complete,
      currency: null,
      collector: COLLECTOR,
    },
  };
}
