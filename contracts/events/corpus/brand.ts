import type { Event } from '../event.ts';

/** Stream `brand-<brandId>`: who a brand is. */
export const BRAND = 'brand';
export const brandStream = (brandId: string): string => `${BRAND}-${brandId}`;

/** From the top level down. */
export type CategoryOnPath = { readonly id: string; readonly slug: string; readonly name: string };

export type BrandDetails = {
  readonly name: string;
  readonly description: string | null;
  readonly url: string;
  readonly logo_url: string | null;
  readonly country: string | null;
  readonly category_path: readonly CategoryOnPath[];
  /** Listed in the directory. */
  readonly is_public: boolean;
  /** Has a page of its own that search engines may index. */
  readonly indexable: boolean;
};

export type BrandRegistered = Event<
  'BrandRegistered',
  BrandDetails & {
    readonly brand_id: string;
    readonly domain: string;
    readonly slug: string;
    readonly observed_at: string;
  }
>;

/** Only the fields that changed. */
export type BrandProfileChanged = Event<
  'BrandProfileChanged',
  { readonly brand_id: string; readonly observed_at: string; readonly changes: Partial<BrandDetails> }
>;

export type BrandEvent = BrandRegistered | BrandProfileChanged;
