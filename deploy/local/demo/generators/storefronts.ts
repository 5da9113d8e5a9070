import { DAY_MS, HOUR_MS } from '#contracts/values/time.ts';
import type { Observation } from '#contracts/observations/index.ts';
import type { ObservedProduct } from '#contracts/observations/storefront-scan.ts';
import { scanIdOf } from '#domain/ids.ts';
import { FOR, Random } from '../world/seeded-random.ts';
import type { DemoBrand, World } from '../world/world.ts';

const SCANS_FROM_MS = 4 * HOUR_MS;
const DAYS_BETWEEN_SCANS = 7;
/** One brand in three has a shop whose catalogue can be collected. */
const STOREFRONT_EVERY = 3;
const STOREFRONTS_MAX = 2_000;
const FAILED_SHARE = 0.05;
const FIRST_PRODUCT_ID = 7_300_000_000_000;
const PRODUCTS_PER_SHOP_MAX = 100;
const COLORS = ['Sand', 'Moss', 'Ink', 'Clay', 'Fog'] as const;
const SIZES = ['Small', 'Medium', 'Large'] as const;

export function* storefronts(world: World, firstDayMs: number): Generator<Observation> {
  for (const brand of shopsOf(world)) {
    for (const day of scanDays(world, brand)) yield* scanOf(world, brand, day, firstDayMs + day * DAY_MS);
  }
}

export function* storefrontsOn(world: World, day: number, dayMs: number): Generator<Observation> {
  for (const brand of shopsOf(world)) yield* scanOf(world, brand, day, dayMs);
}

export const shopsOf = ({ brandList }: World): readonly DemoBrand[] =>
  brandList.filter(({ index }) => index % STOREFRONT_EVERY === 0).slice(0, STOREFRONTS_MAX);

/** Weekly, and when a sale begins and ends. */
const scanDays = (world: World, brand: DemoBrand): readonly number[] => {
  const days = new Set<number>();
  for (let day = brand.offset; day < world.days; day += DAYS_BETWEEN_SCANS) days.add(day);
  for (const { from, to } of brand.sales) for (const day of [from, to + 1]) days.add(day);
  return [...days].filter((day) => day < world.days).toSorted((a, b) => a - b);
};

function* scanOf(world: World, brand: DemoBrand, day: number, dayMs: number): Generator<Observation> {
  const scanned_at = new Date(dayMs + SCANS_FROM_MS).toISOString();
  const key = {
    scan_id: scanIdOf(brand.domain, `day ${day}`, `demo shop ${world.seed}`),
    domain: brand.domain,
    scanned_at,
  };
  const failed = new Random(world.seed, FOR.storefront, brand.index, 1, day).chance(FAILED_SHARE);
  const products = failed ? [] : catalogueOn(world, brand, day);
  if (products.length > 0) yield { type: 'storefront.scan', ...key, page: 0, products };
  yield {
    type: 'storefront.scan_end',
    ...key,
    pages: products.length > 0 ? 1 : 0,
    complete: !failed,
    currency: 'USD',
    collector: 'demo-storefronts/1',
  };
}

export const catalogueOn = (world: World, brand: DemoBrand, day: number): ObservedProduct[] => {
  const count = new Random(world.seed, FOR.storefront, brand.index).between(12, 30);
  const dayOfCorpus = day % world.days;
  const onSale = brand.sales.some(({ from, to }) => dayOfCorpus >= from && dayOfCorpus <= to);
  return Array.from({ length: count }, (_, number) => productOn(world, brand, number, day, onSale)).filter(
    (product) => product !== null,
  );
};

const dollars = (cents: number): string => (cents / 100).toFixed(2);

/** `null` when not listed. The first twelve products are always listed, because ads link to them. */
const productOn = (
  world: World,
  brand: DemoBrand,
  number: number,
  day: number,
  onSale: boolean,
): ObservedProduct | null => {
  const random = new Random(world.seed, FOR.storefront, brand.index, 2, number);
  const lasts = number < 12;
  const listedFrom = lasts || random.chance(0.6) ? 0 : random.below(world.days);
  const listedUntil = lasts || random.chance(0.7) ? Number.POSITIVE_INFINITY : random.below(world.days);
  if (day < listedFrom || day >= listedUntil) return null;
  const leaf = brand.categoryPath[2];
  const handle = `${leaf.toLowerCase().replaceAll(' ', '-')}-${number + 1}`;
  const id = FIRST_PRODUCT_ID + brand.index * PRODUCTS_PER_SHOP_MAX + number;
  const priceCents = random.between(12, 140) * 100;
  const isReduced = onSale && random.chance(0.6);
  const color = random.pick(COLORS);
  return {
    id: String(id),
    handle,
    title: `${leaf} no. ${number + 1}`,
    product_type: leaf,
    vendor: brand.name,
    published_at: null,
    image_url: `https://cdn.${brand.domain}/${handle}.jpg`,
    variants: SIZES.slice(0, random.between(1, SIZES.length)).map((size, variant) => ({
      id: String(id * 10 + variant),
      title: `${color} / ${size}`,
      sku: null,
      price: dollars(isReduced ? Math.round(priceCents * 0.8) : priceCents),
      compare_at_price: isReduced ? dollars(priceCents) : 'none',
      available: !new Random(
        world.seed,
        FOR.storefront,
        brand.index,
        3,
        number,
        variant,
        Math.floor(day / 14),
      ).chance(0.15),
    })),
  };
};
