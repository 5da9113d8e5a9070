import { z } from 'zod';
import { CalendarDate, Count, Timestamp } from '#contracts/values/primitives.ts';

/** Listed prices are exactly those that the catalogue publishes. */

const Price = z.string().regex(/^\d+(\.\d+)?$/);

export const StoreVariant = z
  .strictObject({
    variant_id: z.string(),
    title: z.string().nullable(),
    sku: z.string().nullable(),
    price: Price.nullable().meta({ description: 'As listed, in the currency of the store.' }),
    compare_at_price: Price.nullable().meta({
      description: 'The compare-at price that the shop lists; null when none was observed.',
    }),
    available: z
      .boolean()
      .nullable()
      .meta({ description: 'The flag as published; null when the catalogue does not publish it.' }),
  })
  .meta({ id: 'StoreVariant' });

export const StoreProduct = z
  .strictObject({
    product_id: z.string(),
    handle: z.string(),
    title: z.string(),
    url: z
      .string()
      .nullable()
      .meta({ description: 'Page of the product in the shop; null when its handle was cut.' }),
    product_type: z.string().nullable(),
    vendor: z.string().nullable(),
    image_url: z.string().nullable(),
    published_at: Timestamp.nullable(),
    status: z.enum(['listed', 'missing']).meta({
      description: 'Missing: absent from the latest complete scan, but not yet delisted.',
    }),
    missing_since: Timestamp.nullable(),
    first_seen_at: Timestamp,
    changed_at: Timestamp.nullable().meta({ description: 'When it was last observed to have changed.' }),
    available: z.boolean().nullable().meta({
      description: 'Whether any variant is published as available; null when no variant states it.',
    }),
    variants: z.array(StoreVariant).meta({ description: 'In the order of the catalogue.' }),
  })
  .meta({ id: 'StoreProduct' });

export const StoreScan = z
  .strictObject({
    scanned_at: Timestamp,
    complete: z.boolean().meta({
      description:
        'Whether the catalogue was read to its end. Only then does absence count; an empty reply is never complete.',
    }),
    pages: Count,
    products_seen: Count,
    currency: z.string().nullable().meta({ description: 'ISO 4217; null when the scan does not state it.' }),
    collector: z.string(),
  })
  .meta({ id: 'StoreScan', description: 'What a scan of the storefront covered.' });
export type StoreScan = z.infer<typeof StoreScan>;

export const StoreWeek = z
  .strictObject({
    week_start: CalendarDate.meta({ description: 'Monday of the ISO week.' }),
    scans: Count,
    complete_scans: Count,
    products: Count.nullable().meta({
      description: 'Products in the catalogue at the latest scan of the week; null when none was known.',
    }),
    listed: Count,
    returned: Count.meta({ description: 'Products listed again after they had been delisted.' }),
    delisted: Count,
    changed: Count,
    cheaper: Count.meta({ description: 'Product changes in which listed prices only fell.' }),
    dearer: Count.meta({ description: 'Product changes in which listed prices only rose.' }),
    mixed: Count.meta({ description: 'Product changes in which some listed prices fell and others rose.' }),
  })
  .meta({ id: 'StoreWeek', description: 'Changes that the scans of one week showed.' });

const moved = (value: z.ZodType) => z.strictObject({ from: value, to: value }).nullable();

export const StoreChange = z
  .strictObject({
    type: z.enum(['listed', 'returned', 'delisted', 'changed']),
    observed_at: Timestamp,
    product_id: z.string(),
    title: z.string(),
    price_move: z.enum(['cheaper', 'dearer', 'mixed']).nullable(),
    details: z
      .array(z.enum(['handle', 'title', 'product_type', 'vendor', 'published_at', 'image_url']))
      .meta({ description: 'Fields of the product that changed.' }),
    variants_listed: Count,
    variants_delisted: Count,
    variants_changed: Count,
    variants: z
      .array(
        z.strictObject({
          variant_id: z.string(),
          price: moved(Price.nullable()),
          compare_at_price: moved(Price.nullable()),
          available: moved(z.boolean().nullable()),
        }),
      )
      .max(20)
      .meta({ description: 'Up to twenty of the changed variants; null when no variant changed.' }),
  })
  .meta({ id: 'StoreChange', description: 'An observed change of one product.' });
export type StoreChange = z.infer<typeof StoreChange>;

export const Store = z
  .strictObject({
    status: z.enum(['collected', 'not_collected']).meta({
      description: 'not_collected: no scan has shown a product, which does not mean that the shop has none.',
    }),
    latest_scan: StoreScan.nullable(),
    last_complete_scan_at: Timestamp.nullable(),
    currency: z.string().nullable().meta({ description: 'ISO 4217, as last observed.' }),
    products_total: Count.nullable().meta({
      description: 'Products of the catalogue, missing ones included; null when not collected.',
    }),
    missing_products: Count.nullable(),
    products: z
      .array(StoreProduct)
      .nullable()
      .meta({ description: 'Newest first, up to `limit`; null when not collected.' }),
    next_product_id: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `after` to get the next products; null on the last page.' }),
    weeks: z.array(StoreWeek).meta({
      description: 'The twelve weeks up to the latest scan, oldest first; weeks without a scan are absent.',
    }),
    changes: z
      .array(StoreChange)
      .meta({ description: 'The newest observed changes of these weeks, up to two hundred.' }),
  })
  .meta({ id: 'Store' });
