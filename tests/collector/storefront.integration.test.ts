import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import { type CollectorStack, openCollectorStack } from './collector-stack.ts';
import {
  json,
  type PlayedProduct,
  products,
  type PlayedShop,
  shopifyShop,
  woocommerceShop,
} from './played-shop.ts';

let stack: CollectorStack;
let collector: AsyncDisposable;
let shops = 0;
beforeAll(async () => {
  stack = await openCollectorStack();
  collector = stack.start();
});
afterAll(async () => {
  await collector[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const open = (list: readonly PlayedProduct[]): PlayedShop & { readonly domain: string } => {
  shops += 1;
  const domain = `shop-${shops}.example`;
  const shop = shopifyShop(list);
  stack.played.sites.set(domain, shop.site);
  return Object.assign(shop, { domain });
};

const page = (number: number): string => `/products.json?limit=250&page=${number}`;
const ids = (list: readonly { readonly id: string }[]): readonly number[] =>
  list.map(({ id }) => Number(id)).toSorted((a, b) => a - b);
const requestsOf = (domain: string): readonly string[] =>
  stack.played.requests
    .filter((one) => one.startsWith(`${domain} `))
    .map((one) => one.slice(domain.length + 1));

describe('a Shopify shop', () => {
  test('is read to its end, with currency and count, and is due again within a day', async () => {
    const shop = open(products(600));
    await stack.wish(shop.domain);
    expect((await stack.attempt(shop.domain)).outcome).toBe('complete');
    const [scan] = await stack.scans(shop.domain);
    expect(scan?.end).toMatchObject({ complete: true, currency: 'EUR', collector: 'shopify-catalogue-1' });
    expect(scan?.end.scanned_at).toBe(new Date(stack.nowMs).toISOString());
    expect(ids(scan?.products ?? [])).toEqual(shop.products.map(({ id }) => id));
    expect(scan?.products[0]).toMatchObject({ variants: [{ price: '19.90', compare_at_price: 'none' }] });
    expect(requestsOf(shop.domain)).toEqual([
      '/robots.txt',
      '/meta.json',
      page(1),
      page(2),
      page(3),
      page(4),
    ]);
    const dueInMs = (await stack.target(shop.domain)).due_at.getTime() - stack.nowMs;
    expect(dueInMs).toBeLessThanOrEqual(24 * HOUR_MS);
    expect(dueInMs).toBeGreaterThanOrEqual(21.6 * HOUR_MS);
  });

  test('is asked on condition the next time, and an unchanged page counts as read', async () => {
    const shop = open(products(300));
    await stack.wish(shop.domain);
    await stack.attempt(shop.domain);
    shop.products = [
      ...shop.products.slice(0, 250),
      ...products(50, 251).map((one) => ({ ...one, price: '9.90' })),
    ];
    stack.nowMs += DAY_MS;
    await stack.wish(shop.domain);
    expect((await stack.attempt(shop.domain, 2)).outcome).toBe('complete');
    const [, second] = await stack.scans(shop.domain);
    expect(ids(second?.products ?? [])).toEqual(shop.products.map(({ id }) => id));
    expect(second?.products.filter(({ variants }) => variants[0]?.price === '9.90')).toHaveLength(50);
  });

  test.each<[string, (shop: PlayedShop) => void]>([
    ['without /meta.json', (shop) => void (shop.stated = null)],
    ['that states more products than it shows', (shop) => void (shop.stated = 400)],
    [
      'with a product that is not valid',
      (shop) => void shop.instead.set(page(2), json({ products: [{ id: 9 }] })),
    ],
    ['with a page that is HTML', (shop) => void shop.instead.set(page(2), { body: '<html></html>' })],
    [
      'with a page that its robots.txt forbids',
      (shop) => void (shop.robots = { body: `User-agent: *\nDisallow: ${page(2)}` }),
    ],
  ])('%s is a partial scan', async (_, change) => {
    const shop = open(products(250));
    change(shop);
    await stack.wish(shop.domain);
    expect((await stack.attempt(shop.domain)).outcome).toBe('partial');
    const [scan] = await stack.scans(shop.domain);
    expect(scan?.end.complete).toBe(false);
    expect(scan?.products).toHaveLength(250);
  });

  test('that shows 98 % of the stated count is complete', async () => {
    const shop = open(products(98));
    shop.stated = 100;
    await stack.wish(shop.domain);
    expect((await stack.attempt(shop.domain)).outcome).toBe('complete');
  });

  test('that answers 400 beyond page 100 is a partial scan of what it shows', async () => {
    const shop = open(products(150));
    shop.stated = 30_000;
    // Each of the 100 pages has one product, so that the test stays short.
    for (let number = 1; number <= 100; number += 1) {
      const id = 10_000 + number;
      const variants = [{ id, title: 'Default', price: '1.00', available: true }];
      shop.instead.set(page(number), json({ products: [{ id, handle: `p${id}`, title: 'P', variants }] }));
    }
    await stack.wish(shop.domain);
    expect((await stack.attempt(shop.domain)).outcome).toBe('partial');
    expect((await stack.scans(shop.domain))[0]?.products).toHaveLength(100);
    expect(requestsOf(shop.domain).at(-1)).toBe(page(101));
  });

  test('whose list moves is read once more, then is partial, and no product counts twice', async () => {
    const shop = open(products(400));
    shop.instead.set(page(2), json({ products: [] }));
    const first = JSON.parse((shop.site(page(1), { headers: {} } as never) as { body: string }).body);
    shop.instead.set(page(2), json(first));
    shop.instead.set(page(3), json({ products: [] }));
    await stack.wish(shop.domain);
    expect((await stack.attempt(shop.domain)).outcome).toBe('partial');
    expect(requestsOf(shop.domain).filter((one) => one === page(1))).toHaveLength(2);
    expect((await stack.scans(shop.domain))[0]?.products).toHaveLength(250);
  });

  test.each<[string, string, (shop: PlayedShop) => void]>([
    [
      'that asks for a password',
      'closed',
      (shop) => {
        shop.instead.set('/meta.json', { status: 302, headers: { location: '/password' } });
        shop.instead.set('/password', { body: '<html></html>' });
      },
    ],
    [
      'whose domain leads to the shop of another one',
      'moved',
      (shop) => {
        const { domain } = open(products(2));
        for (const path of ['/meta.json', page(1)]) {
          shop.instead.set(path, { status: 301, headers: { location: `https://${domain}${path}` } });
        }
      },
    ],
    [
      'whose catalogue alone leads to another domain',
      'moved',
      (shop) => {
        const { domain } = open(products(2));
        shop.instead.set(page(1), { status: 302, headers: { location: `https://${domain}${page(1)}` } });
      },
    ],
    [
      'whose robots.txt forbids the catalogue',
      'forbidden',
      (shop) => void (shop.robots = { body: 'User-agent: *\nDisallow: /' }),
    ],
    ['whose robots.txt fails', 'forbidden', (shop) => void (shop.robots = { status: 503 })],
    [
      'that answers HTML for JSON',
      'no_catalogue',
      (shop) => void shop.instead.set(page(1), { body: '<html></html>' }),
    ],
    [
      'with wrong types',
      'no_catalogue',
      (shop) => void shop.instead.set(page(1), json({ products: 'none' })),
    ],
    [
      'with deep JSON',
      'no_catalogue',
      (shop) => void shop.instead.set(page(1), { body: '['.repeat(1_000_000) }),
    ],
    [
      'with no valid product',
      'unreadable',
      (shop) => void shop.instead.set(page(1), json({ products: [7, null, {}] })),
    ],
  ])('%s gives no observation', async (_, outcome, change) => {
    const shop = open(products(3));
    change(shop);
    await stack.wish(shop.domain);
    expect((await stack.attempt(shop.domain)).outcome).toBe(outcome);
    expect(await stack.scans(shop.domain)).toEqual([]);
  });

  test.each([401, 403, 423, 430])(
    'that answers %i rests for a day, without an observation',
    async (status) => {
      const shop = open(products(3));
      shop.instead.set('/meta.json', { status });
      await stack.wish(shop.domain);
      expect(await stack.attempt(shop.domain)).toEqual({ outcome: 'refused', detail: `answered ${status}` });
      expect((await stack.target(shop.domain)).due_at.getTime()).toBe(stack.nowMs + DAY_MS);
    },
  );

  test('that is busy goes on after Retry-After, where it was', async () => {
    const shop = open(products(600));
    shop.instead.set(page(2), { status: 429, headers: { 'retry-after': '120' } });
    await stack.wish(shop.domain);
    expect((await stack.attempt(shop.domain)).outcome).toBe('refused');
    expect((await stack.target(shop.domain)).retry_at?.getTime()).toBe(stack.nowMs + 120_000);
    shop.instead.delete(page(2));
    stack.nowMs += 120_000;
    await stack.wish(shop.domain);
    expect((await stack.attempt(shop.domain, 2)).outcome).toBe('complete');
    expect(requestsOf(shop.domain).filter((one) => one === page(1))).toHaveLength(1);
  });

  test('that fails on the way is published as partial after six hours', async () => {
    const shop = open(products(600));
    shop.instead.set(page(2), { status: 500 });
    await stack.wish(shop.domain);
    expect(await stack.attempt(shop.domain)).toEqual({ outcome: 'wait', detail: 'answered 500' });
    expect((await stack.target(shop.domain)).retry_at?.getTime()).toBe(stack.nowMs + 5 * 60_000);
    stack.nowMs += 6 * HOUR_MS;
    await stack.wish(shop.domain);
    expect((await stack.attempt(shop.domain, 2)).outcome).toBe('partial');
    expect((await stack.scans(shop.domain))[0]?.products).toHaveLength(250);
  });
});

test('a WooCommerce shop is read, with prices of products and none of variations', async () => {
  stack.played.sites.set('woo.example', woocommerceShop(products(150)));
  await stack.wish('woo.example', 'weekly');
  expect((await stack.attempt('woo.example')).outcome).toBe('complete');
  const [scan] = await stack.scans('woo.example');
  expect(scan?.end).toMatchObject({ complete: true, currency: 'GBP', collector: 'woocommerce-catalogue-1' });
  const byId = new Map(scan?.products.map((product) => [product.id, product]));
  expect(byId.size).toBe(150);
  expect(byId.get('1')).toMatchObject({
    title: 'Product – 1',
    product_type: 'Bags & Cases',
    variants: [{ id: '1', price: '19.90', compare_at_price: '29.90', available: true }],
  });
  expect(byId.get('2')?.variants).toMatchObject([
    { id: '5002', title: 'XL', price: null, compare_at_price: null },
  ]);
});

test('two collectors read each page once', async () => {
  await using _ = stack.start();
  const opened = Array.from({ length: 6 }, () => open(products(260)));
  for (const { domain } of opened) await stack.wish(domain);
  for (const { domain } of opened) {
    expect((await stack.attempt(domain)).outcome).toBe('complete');
    expect(requestsOf(domain).filter((one) => one === page(2))).toHaveLength(1);
    expect(await stack.scans(domain)).toHaveLength(1);
  }
});
