import { z } from 'zod';
import { CalendarDate, Count, Timestamp } from '#contracts/values/primitives.ts';

/** Listed prices are exactly those that the catalogue publishes. */

const Price = z.string().regex(/^\d+(\.\d+)?$/);

export const CollectedStatus = z
  .enum(['collected', 'not_collected'])
  .meta({ id: 'CollectedStatus', description: 'Whether a scan has read it yet.' });
const ProductId = z.string().meta({ description: "The shop's id of the product, digits." });
const VariantId = z.string().meta({ description: "The shop's id of the variant, digits." });
const ProductTitle = z.string().meta({ description: 'Name of the product as listed.' });

export const StoreVariant = z
  .strictObject({
    variant_id: VariantId,
    title: z.string().nullable().meta({ description: 'As listed, such as a size; null: not observed.' }),
    sku: z.string().nullable().meta({ description: "The shop's own article number; null: none observed." }),
    price: Price.nullable().meta({
      description: 'As listed, in the currency of the store; null: none observed.',
    }),
    compare_at_price: Price.nullable().meta({
      description: 'The compare-at price that the shop lists; null when none was observed.',
    }),
    available: z
      .boolean()
      .nullable()
      .meta({ description: 'The flag as published; null when the catalogue does not publish it.' }),
  })
  .meta({ id: 'StoreVariant', description: 'A form of a product that can be bought, such as one size.' });

export const StoreProduct = z
  .strictObject({
    product_id: ProductId,
    handle: z.string().meta({ description: 'Name of the product in the links of the shop.' }),
    title: ProductTitle,
    url: z
      .string()
      .nullable()
      .meta({ description: 'Page of the product in the shop; null when its handle was cut.' }),
    product_type: z
      .string()
      .nullable()
      .meta({ description: "The shop's own kind of product; null: none observed." }),
    vendor: z
      .string()
      .nullable()
      .meta({ description: 'Maker or seller that the shop names; null: none observed.' }),
    image_url: z
      .string()
      .nullable()
      .meta({ description: 'First picture, at the shop; null: none observed.' }),
    published_at: Timestamp.nullable().meta({
      description: 'When the shop published it, as the catalogue states; null: not stated.',
    }),
    status: z.enum(['listed', 'missing']).meta({
      description: '`missing`: absent from the latest complete scan, but not yet delisted.',
    }),
    missing_since: Timestamp.nullable().meta({
      description: 'First complete scan that did not show it; null while it is listed.',
    }),
    first_seen_at: Timestamp.meta({ description: 'Time of the first scan that showed it.' }),
    changed_at: Timestamp.nullable().meta({
      description: 'When it was last observed to have changed; null: never.',
    }),
    available: z.boolean().nullable().meta({
      description: 'Whether any variant is published as available; null when no variant states it.',
    }),
    variants: z.array(StoreVariant).meta({ description: 'Its variants, in the order of the catalogue.' }),
  })
  .meta({ id: 'StoreProduct', description: 'A product of the public catalogue with its variants.' });

export const StoreScan = z
  .strictObject({
    scanned_at: Timestamp.meta({ description: 'When the catalogue was read.' }),
    complete: z.boolean().meta({
      description:
        'Whether the catalogue was read to its end. Only then does absence count; an empty reply is never complete.',
    }),
    pages: Count.meta({ description: 'Catalogue pages that were read.' }),
    products_seen: Count.meta({ description: 'Products that they showed.' }),
    currency: z.string().nullable().meta({ description: 'ISO 4217; null when the scan does not state it.' }),
    collector: z.string().meta({ description: 'Name of the program that read it.' }),
  })
  .meta({ id: 'StoreScan', description: 'What a scan of the storefront covered.' });
export type StoreScan = z.infer<typeof StoreScan>;

export const StoreWeek = z
  .strictObject({
    week_start: CalendarDate.meta({ description: 'Monday of the ISO week.' }),
    scans: Count.meta({ description: 'Scans of the week.' }),
    complete_scans: Count.meta({ description: 'Scans among them that read the catalogue to its end.' }),
    products: Count.nullable().meta({
      description: 'Products in the catalogue at the latest scan of the week; null when none was known.',
    }),
    listed: Count.meta({
      description: 'Products listed for the first time; the first complete scan counts none.',
    }),
    returned: Count.meta({ description: 'Products listed again after they had been delisted.' }),
    delisted: Count.meta({ description: 'Products absent from two complete scans at least 20 hours apart.' }),
    changed: Count.meta({ description: 'Product changes, of prices or of other fields.' }),
    cheaper: Count.meta({ description: 'Product changes in which listed prices only fell.' }),
    dearer: Count.meta({ description: 'Product changes in which listed prices only rose.' }),
    mixed: Count.meta({ description: 'Product changes in which some listed prices fell and others rose.' }),
  })
  .meta({ id: 'StoreWeek', description: 'Changes that the scans of one week showed.' });

const moved = (value: z.ZodType, what: string) =>
  z
    .strictObject({
      from: value.meta({ description: `${what} before; null: not known.` }),
      to: value.meta({ description: `${what} now; null: not known.` }),
    })
    .nullable()
    .meta({ description: `${what}, if it changed; otherwise null.` });

export const StoreChange = z
  .strictObject({
    type: z.enum(['listed', 'returned', 'delisted', 'changed']).meta({
      description:
        '`returned`: listed again after it had been delisted; `delisted`: absent from two complete scans.',
    }),
    observed_at: Timestamp.meta({ description: 'Time of the scan that showed it.' }),
    product_id: ProductId,
    title: ProductTitle,
    price_move: z.enum(['cheaper', 'dearer', 'mixed']).nullable().meta({
      description: 'Listed prices only fell, only rose, or both; null: none changed, or another currency.',
    }),
    details: z
      .array(z.enum(['handle', 'title', 'product_type', 'vendor', 'published_at', 'image_url']))
      .meta({ description: 'Fields of the product that changed.' }),
    variants_listed: Count.meta({ description: 'Variants that the product has gained.' }),
    variants_delisted: Count.meta({ description: 'Variants that it has lost.' }),
    variants_changed: Count.meta({ description: 'Variants of which a field changed.' }),
    variants: z
      .array(
        z.strictObject({
          variant_id: VariantId,
          price: moved(Price.nullable(), 'Listed price'),
          compare_at_price: moved(Price.nullable(), 'Compare-at price'),
          available: moved(z.boolean().nullable(), 'Published flag of availability'),
        }),
      )
      .max(20)
      .meta({ description: 'Up to twenty of the changed variants; null when no variant changed.' }),
  })
  .meta({ id: 'StoreChange', description: 'An observed change of one product.' });
export type StoreChange = z.infer<typeof StoreChange>;

export const Store = z
  .strictObject({
    status: CollectedStatus.meta({
      description:
        '`not_collected`: no scan has shown a product, which does not mean that the shop has none.',
    }),
    latest_scan: StoreScan.nullable().meta({ description: 'The newest scan; null: none was recorded.' }),
    last_complete_scan_at: Timestamp.nullable().meta({
      description: 'When the catalogue was last read to its end; null: never.',
    }),
    currency: z
      .string()
      .nullable()
      .meta({ description: 'ISO 4217, as last observed; null: never observed.' }),
    products_total: Count.nullable().meta({
      description: 'Products of the catalogue, missing ones included; null when not collected.',
    }),
    missing_products: Count.nullable().meta({
      description: 'Products among them that the latest complete scan did not show; null when not collected.',
    }),
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
  .meta({ id: 'Store', description: 'The public catalogue of a brand as last collected, and its changes.' });
