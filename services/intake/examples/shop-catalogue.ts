/**
 * Example of a collector in TypeScript: reads the public catalogues of shops and sends each to the intake as a storefront
 * scan. The scan ids follow from the content, so sending a scan again records nothing twice.
 *
 *   node services/intake/examples/shop-catalogue.ts INTAKE_URL NAME KEY_FILE [SHOP_URL]
 *
 * Without SHOP_URL it leases the shops that are due, and reads them until none is left. NAME is the name of the key;
 * KEY_FILE holds the key, because other users of the machine can read arguments.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { chunk } from 'es-toolkit/array/chunk';
import { v5 } from 'uuid';
import type { LeasedTask } from '#contracts/intake.ts';
import type {
  ObservedProduct,
  StorefrontScanEnd,
  StorefrontScanPage,
} from '#contracts/observations/storefront-scan.ts';

/** Namespace of the scan ids of this collector. Use one of your own: `crypto.randomUUID()`. */
const NAMESPACE = 'a7b0c1f2-6a55-4a0e-9d0e-3f7f6f1f2b11';
const PRODUCTS_PER_PAGE = 250;
/** A shop publishes at most 25,000 products in its catalogue. */
const PAGES_MAX = 100;
/** An observation has at most 1 MB. */
const PRODUCTS_PER_LINE = 50;
/** A request has at most 1,000 lines and 16 MiB. */
const LINES_PER_REQUEST = 15;
/** Milliseconds between two requests to the shop. */
const SHOP_PAUSE_MS = 1_000;
const REQUEST_TIMEOUT_MS = 30_000;
const ATTEMPTS = 5;
const RETRY_SECONDS = 5;
/** A lease lasts 30 minutes, in which all of these shops are read. */
const TASKS_PER_REQUEST = 5;
const REASON_MAX_LENGTH = 500;

type CatalogueProduct = {
  readonly id: number;
  readonly handle: string;
  readonly title: string;
  readonly product_type?: string;
  readonly vendor?: string;
  readonly published_at?: string | null;
  readonly images?: readonly { readonly src: string }[];
  readonly variants: readonly {
    readonly id: number;
    readonly title: string;
    readonly sku?: string | null;
    readonly price: string;
    readonly compare_at_price?: string | null;
    readonly available?: boolean;
  }[];
};

const observedProduct = (product: CatalogueProduct): ObservedProduct => ({
  id: String(product.id),
  handle: product.handle,
  title: product.title,
  product_type: product.product_type || null,
  vendor: product.vendor || null,
  published_at: product.published_at ? new Date(product.published_at).toISOString() : null,
  image_url: product.images?.[0]?.src ?? null,
  variants: product.variants.map((variant) => ({
    id: String(variant.id),
    title: variant.title,
    sku: variant.sku || null,
    price: variant.price,
    // The page shows that such a price does not exist; `null` would mean unknown.
    compare_at_price: variant.compare_at_price || 'none',
    available: variant.available ?? null,
  })),
});

/** `complete` is false when a product came twice: the list changed while it was read. */
const readCatalogue = async (shopUrl: string) => {
  const products = new Map<string, ObservedProduct>();
  let seen = 0;
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const reply = await fetch(new URL(`/products.json?limit=${PRODUCTS_PER_PAGE}&page=${page}`, shopUrl), {
      headers: { 'user-agent': 'example-collector/1 (+https://shop.example/contact)' },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const body = reply.ok ? ((await reply.json()) as { products?: readonly CatalogueProduct[] }) : {};
    if (body.products === undefined) throw new Error(`${shopUrl} has no catalogue: status ${reply.status}`);
    if (body.products.length === 0)
      return { products: [...products.values()], complete: seen === products.size };
    seen += body.products.length;
    for (const product of body.products) products.set(String(product.id), observedProduct(product));
    await pause(SHOP_PAUSE_MS);
  }
  return { products: [...products.values()], complete: false };
};

/** Sends a body, and retries after the time that the intake names. Returns the parsed reply. */
const call = async (
  path: string,
  headers: Record<string, string>,
  body: string | Uint8Array<ArrayBuffer>,
): Promise<unknown> => {
  for (let attempt = 1; ; attempt += 1) {
    const reply = await fetch(new URL(path, intakeUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body,
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (reply.ok) return await reply.json();
    if (![429, 503].includes(reply.status) || attempt === ATTEMPTS) {
      throw new Error(`The intake answered ${reply.status}: ${await reply.text()}`);
    }
    await reply.body?.cancel();
    await pause(1_000 * Number(reply.headers.get('retry-after') ?? RETRY_SECONDS));
  }
};

const sendLines = async (lines: readonly object[]): Promise<readonly object[]> => {
  const headers = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
  const body = new Uint8Array(gzipSync(lines.map((line) => JSON.stringify(line)).join('\n')));
  return ((await call('/intake/observations', headers, body)) as { refused: readonly object[] }).refused;
};

const callTasks = (path: string, body: object): Promise<unknown> =>
  call(`/intake/tasks${path}`, { 'content-type': 'application/json' }, JSON.stringify(body));

const collect = async (shopUrl: string): Promise<boolean> => {
  const { products, complete } = await readCatalogue(shopUrl);
  const scanned_at = new Date().toISOString();
  const { hostname: domain } = new URL(shopUrl);
  const scan_id = v5(JSON.stringify([domain, scanned_at, products]), NAMESPACE);
  const pages = chunk(products, PRODUCTS_PER_LINE).map(
    (part, page): StorefrontScanPage => ({
      type: 'storefront.scan',
      scan_id,
      domain,
      scanned_at,
      page,
      products: part,
    }),
  );
  const end: StorefrontScanEnd = {
    type: 'storefront.scan_end',
    scan_id,
    domain,
    scanned_at,
    pages: pages.length,
    complete,
    currency: null,
    collector: `${name}/example-1`,
  };
  const refused: object[] = [];
  for (const lines of chunk([...pages, end], LINES_PER_REQUEST)) refused.push(...(await sendLines(lines)));
  for (const line of refused) console.error(JSON.stringify(line));
  console.log(
    `${domain}: ${products.length} products sent, ${refused.length} lines refused, complete: ${complete}`,
  );
  return refused.length === 0;
};

/** A task without a reported end is leased again when its lease expires. */
const doTask = async ({ id, domain }: LeasedTask): Promise<boolean> => {
  let reason = 'lines were refused';
  try {
    if (await collect(`https://${domain}`)) {
      await callTasks(`/${id}/done`, {});
      return true;
    }
  } catch (error) {
    reason = (error as Error).message;
  }
  console.error(`${domain}: ${reason}`);
  await callTasks(`/${id}/failed`, { reason: reason.slice(0, REASON_MAX_LENGTH) });
  return false;
};

const doTasks = async (): Promise<boolean> => {
  let allDone = true;
  for (;;) {
    const body = { type: 'storefront.scan', limit: TASKS_PER_REQUEST };
    const { tasks } = (await callTasks('', body)) as { tasks: readonly LeasedTask[] };
    if (tasks.length === 0) return allDone;
    for (const task of tasks) if (!(await doTask(task))) allDone = false;
  }
};

const [intakeUrl, name, keyFile, shopUrl] = process.argv.slice(2);
if (!intakeUrl || !name || !keyFile) {
  throw new Error('Usage: shop-catalogue.ts INTAKE_URL NAME KEY_FILE [SHOP_URL]');
}
const key = (await readFile(keyFile, 'utf8')).trim();
const isDone = shopUrl ? await collect(shopUrl) : await doTasks();
process.exitCode = isDone ? 0 : 1;
