import { ObservedProduct, STOREFRONT_PRODUCTS_MAX } from '#contracts/observations/storefront-scan.ts';
import { isObject } from '#domain/shapes/json-object.ts';
import { shopifyProductOf } from '#domain/shapes/shopify-product.ts';
import { woocommerceCurrencyOf, woocommerceProductOf } from '#domain/shapes/woocommerce-product.ts';
import type { GetOutcome } from '#platform/http-client/polite-client.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { storefrontObservations } from '#domain/shapes/observations.ts';
import type { SpoolPage } from '../schedule/target-store.ts';
import type { ReadOutcome, Reading, SourceReader } from '../schedule/source-reader.ts';
import { isHostOf } from '../site/choose-pages.ts';

type Answered = Extract<GetOutcome, { readonly kind: 'answered' }>;

export type CataloguePage = {
  readonly products: readonly ObservedProduct[];
  readonly refused: number;
  /** Number of products that the shop states; `null` without one. */
  readonly stated: number | null;
  readonly currency: string | null;
};

export type ShopSystem = {
  readonly collector: string;
  /** Shop systems publish 25,000 products at most. */
  readonly pagesMax: number;
  path(page: number): string;
  /** `null` for a response that is not a catalogue page. */
  read(answer: Answered): CataloguePage | null;
};

const STATED_MAX = 10_000_000;

/** `undefined` unless the status is 200 and the body is JSON. */
export const jsonOf = ({ status, body }: Answered): unknown => {
  if (status !== 200) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    // HTML, a cut text, or too deep nesting.
    return undefined;
  }
};

/** `null` unless it is a count. */
export const countOf = (value: unknown): number | null => {
  const count = typeof value === 'string' && /^\d{1,8}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= STATED_MAX
    ? count
    : null;
};

const readProducts = (
  items: readonly unknown[],
  map: (item: Readonly<Record<string, unknown>>) => ObservedProduct,
): Pick<CataloguePage, 'products' | 'refused'> => {
  const products = items.flatMap((item) => {
    const parsed = isObject(item) ? ObservedProduct.safeParse(map(item)) : null;
    return parsed?.success ? [parsed.data] : [];
  });
  return { products, refused: items.length - products.length };
};

const shopify: ShopSystem = {
  collector: 'shopify-catalogue-1',
  pagesMax: 101,
  path: (page) => `/products.json?limit=250&page=${page}`,
  read: (answer) => {
    const value = jsonOf(answer);
    if (!isObject(value) || !Array.isArray(value['products'])) return null;
    return { ...readProducts(value['products'], shopifyProductOf), stated: null, currency: null };
  },
};

const woocommerce: ShopSystem = {
  collector: 'woocommerce-catalogue-1',
  pagesMax: 251,
  path: (page) => `/wp-json/wc/store/v1/products?per_page=100&page=${page}&orderby=id`,
  read: (answer) => {
    const value = jsonOf(answer);
    const stated = countOf(answer.headers['x-wp-total']);
    if (!Array.isArray(value)) return null;
    // Other APIs return lists too. A catalogue states a total, or its items have prices.
    if (stated === null && !value.some((item) => isObject(item) && isObject(item['prices']))) return null;
    const [first] = value;
    const currency = isObject(first) ? woocommerceCurrencyOf(first) : null;
    return { ...readProducts(value, woocommerceProductOf), stated, currency };
  },
};

export const SHOP_SYSTEMS = { shopify, woocommerce } as const;
export type ShopSystemName = keyof typeof SHOP_SYSTEMS;

/** Minimum share of the stated products in a complete scan. */
const COMPLETE_SHARE = 0.98;
const NO_CATALOGUE_MS = 7 * DAY_MS;
/** A list that changed during the read is read once more. */
const ROUNDS_MAX = 2;
const SERVER_ERRORS_FROM = 500;

export type StorefrontCursor = {
  readonly system: ShopSystemName | null;
  /** Origin after redirects. */
  readonly origin: string;
  readonly page: number;
  readonly round: number;
  readonly stated: number | null;
  readonly currency: string | null;
  readonly refused: number;
  /** A product was on two pages. */
  readonly moved: boolean;
  /** `null` during the scan. Only an empty page ends a complete scan. */
  readonly ended: 'empty' | 'cut' | null;
};

type StorefrontRead = Reading<StorefrontCursor>;
type Step<T> = { readonly value: T } | { readonly outcome: ReadOutcome };

const nothing = (outcome: string, detail: string, notBeforeMs: number | null = null): ReadOutcome => ({
  kind: 'nothing',
  outcome,
  detail,
  notBeforeMs,
});

const isPasswordPage = ({ url }: Answered): boolean => /^\/password\/?$/.test(url.pathname);

const interruption = (domain: string, got: GetOutcome): ReadOutcome | null => {
  if (got.kind === 'resting')
    return { kind: 'wait', outcome: 'refused', untilMs: got.untilMs, detail: got.reason };
  if (got.kind === 'failed') return { kind: 'wait', outcome: 'wait', untilMs: null, detail: got.reason };
  if (got.kind !== 'answered') return null;
  if (got.status >= SERVER_ERRORS_FROM)
    return { kind: 'wait', outcome: 'wait', untilMs: null, detail: `answered ${got.status}` };
  // A catalogue on another domain belongs to another brand.
  if (!isHostOf(got.url.hostname, domain))
    return nothing('moved', `the shop leads to ${got.url.hostname}; read that domain instead`);
  return isPasswordPage(got) ? nothing('closed', 'the shop asks for a password') : null;
};

const readMeta = async ({ domain, client, signal }: StorefrontRead): Promise<Step<StorefrontCursor>> => {
  const got = await client.get(`https://${domain}/meta.json`, { signal });
  const outcome = interruption(domain, got);
  if (outcome !== null) return { outcome };
  const meta = got.kind === 'answered' ? jsonOf(got) : null;
  const stated = isObject(meta) ? countOf(meta['published_products_count']) : null;
  const currency = isObject(meta) ? meta['currency'] : null;
  return {
    value: {
      system: null,
      origin: got.kind === 'answered' ? got.url.origin : `https://${domain}`,
      page: 1,
      round: 1,
      stated,
      currency: typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? currency : null,
      refused: 0,
      moved: false,
      ended: null,
    },
  };
};

/** A conditional request if the previous scan has the page. */
const requestPage = async (
  { client, signal }: StorefrontRead,
  { origin, page }: StorefrontCursor,
  name: ShopSystemName,
  previous: SpoolPage | null,
): Promise<GetOutcome> =>
  client.get(`${origin}${SHOP_SYSTEMS[name].path(page)}`, {
    signal,
    ...(previous === null ? {} : { validators: previous.validators }),
  });

/** Finds the shop system, and returns its first page too. */
const findSystem = async (
  reading: StorefrontRead,
  cursor: StorefrontCursor,
): Promise<Step<{ readonly cursor: StorefrontCursor; readonly first: GetOutcome }>> => {
  const { batch, now } = reading;
  const forbidden: string[] = [];
  const previous = await batch.previousPage(1);
  for (const [name, system] of Object.entries(SHOP_SYSTEMS) as [ShopSystemName, ShopSystem][]) {
    const first = await requestPage(reading, cursor, name, previous);
    const outcome = interruption(reading.domain, first);
    if (outcome !== null) return { outcome };
    if (first.kind === 'forbidden') forbidden.push(first.reason);
    if (first.kind === 'unchanged') return { value: { cursor: { ...cursor, system: name }, first } };
    if (first.kind === 'answered' && system.read(first) !== null) {
      return { value: { cursor: { ...cursor, system: name, origin: first.url.origin }, first } };
    }
  }
  const notBeforeMs = now().getTime() + NO_CATALOGUE_MS;
  const [reason] = forbidden;
  if (reason !== undefined) return { outcome: nothing('forbidden', reason) };
  return { outcome: nothing('no_catalogue', 'the site publishes no catalogue', notBeforeMs) };
};

/** `seen`: ids of products read before. `first`: the page, if it was requested already. */
const readPage = async (
  reading: StorefrontRead,
  cursor: StorefrontCursor,
  name: ShopSystemName,
  seen: Set<string>,
  first: GetOutcome | null,
): Promise<Step<StorefrontCursor>> => {
  const { batch } = reading;
  const system = SHOP_SYSTEMS[name];
  const previous = await batch.previousPage(cursor.page);
  const got = first ?? (await requestPage(reading, cursor, name, previous));
  const outcome = interruption(reading.domain, got);
  if (outcome !== null) return { outcome };
  const end = async (ended: 'empty' | 'cut', stated = cursor.stated): Promise<Step<StorefrontCursor>> => {
    const next = { ...cursor, ended, stated };
    await batch.commit(next, null);
    return { value: next };
  };
  const read =
    got.kind === 'unchanged' && previous !== null
      ? {
          products: ObservedProduct.array().parse(JSON.parse(previous.text)),
          refused: 0,
          stated: null,
          currency: null,
        }
      : got.kind === 'answered'
        ? system.read(got)
        : null;
  // Page 101 of a Shopify shop is a 400, and a robots.txt may forbid later pages.
  if (read === null) return end('cut');
  if (read.products.length + read.refused === 0) return end('empty', read.stated ?? cursor.stated);
  const fresh = read.products.filter(({ id }) => !seen.has(id) && seen.add(id));
  const moved = cursor.moved || fresh.length < read.products.length;
  if (moved && cursor.round < ROUNDS_MAX) {
    const again = { ...cursor, page: 1, round: cursor.round + 1, refused: 0, moved: false };
    seen.clear();
    await batch.restart(again);
    return { value: again };
  }
  const isFull = seen.size >= STOREFRONT_PRODUCTS_MAX || cursor.page >= system.pagesMax;
  const next: StorefrontCursor = {
    ...cursor,
    page: cursor.page + 1,
    stated: read.stated ?? cursor.stated,
    currency: cursor.currency ?? read.currency,
    refused: cursor.refused + read.refused,
    moved,
    ended: isFull ? 'cut' : null,
  };
  const headers = got.kind === 'answered' ? got.headers : {};
  // A conditional request would hide invalid products from the next scan.
  const isWhole = read.refused === 0 && fresh.length === read.products.length;
  const validators =
    got.kind === 'unchanged' && previous !== null
      ? previous.validators
      : { etag: headers['etag'] ?? null, lastModified: headers['last-modified'] ?? null };
  await batch.commit(next, {
    page: cursor.page,
    text: JSON.stringify(fresh),
    validators: isWhole ? validators : { etag: null, lastModified: null },
  });
  return { value: next };
};

const productsOf = async ({ batch }: StorefrontRead): Promise<readonly ObservedProduct[]> =>
  (await batch.pages()).flatMap(({ text }) => JSON.parse(text) as ObservedProduct[]);

const observe = async (reading: StorefrontRead, cursor: StorefrontCursor): Promise<ReadOutcome> => {
  const { domain, batch } = reading;
  const products = (await productsOf(reading)).slice(0, STOREFRONT_PRODUCTS_MAX);
  const { system, ended, moved, refused, stated, currency } = cursor;
  if (system === null || (products.length === 0 && (refused > 0 || ended === 'cut'))) {
    return nothing('unreadable', `no product could be read; ${refused} were not valid`);
  }
  const complete =
    ended === 'empty' &&
    !moved &&
    refused === 0 &&
    products.length > 0 &&
    stated !== null &&
    products.length >= stated * COMPLETE_SHARE;
  const observations = storefrontObservations(products, {
    domain,
    scanned_at: batch.startedAt.toISOString(),
    complete,
    currency,
    collector: SHOP_SYSTEMS[system].collector,
  });
  const detail = `${products.length} products of ${stated ?? 'an unknown number'}, ${refused} refused`;
  return { kind: 'read', observations, outcome: complete ? 'complete' : 'partial', detail };
};

const readStorefront = async (reading: StorefrontRead): Promise<ReadOutcome> => {
  const { batch } = reading;
  let cursor = batch.cursor;
  let first: GetOutcome | null = null;
  if (cursor === null) {
    const meta = await readMeta(reading);
    if ('outcome' in meta) return meta.outcome;
    const found = await findSystem(reading, meta.value);
    if ('outcome' in found) return found.outcome;
    ({ cursor, first } = found.value);
    await batch.commit(cursor, null);
  }
  const seen = new Set((await productsOf(reading)).map(({ id }) => id));
  while (cursor.ended === null && cursor.system !== null) {
    const step: Step<StorefrontCursor> = await readPage(reading, cursor, cursor.system, seen, first);
    first = null;
    if ('outcome' in step) return step.outcome;
    cursor = step.value;
  }
  return observe(reading, cursor);
};

const giveUpStorefront = async (reading: StorefrontRead): Promise<ReadOutcome> => {
  const { batch } = reading;
  const { cursor } = batch;
  if (cursor === null || cursor.system === null) return nothing('gave_up', 'the shop could not be read');
  const ended = { ...cursor, ended: cursor.ended ?? ('cut' as const) };
  await batch.commit(ended, null);
  return observe(reading, ended);
};

export const storefrontReader: SourceReader = {
  intervalMs: null,
  read: readStorefront,
  giveUp: giveUpStorefront,
};
