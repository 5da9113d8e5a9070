import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `brand-<brandId>`: the profile of a brand. */
export const BRAND = 'brand';
export const brandStream = (brandId: string): string => `${BRAND}-${brandId}`;

/** One category of a path. Paths run from the top level down. */
export type CategoryOnPath = { readonly id: string; readonly slug: string; readonly name: string };

export type BrandDetails = {
  readonly name: string;
  readonly description: string | null;
  readonly url: string;
  readonly logo_url: string | null;
  readonly country: string | null;
  readonly category_path: readonly CategoryOnPath[];
  /** The brand is listed in the directory. */
  readonly is_public: boolean;
  /** The brand has its own page that search engines may index. */
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

/** `changes` holds only the changed fields. */
export type BrandProfileChanged = Event<
  'BrandProfileChanged',
  { readonly brand_id: string; readonly observed_at: string; readonly changes: Partial<BrandDetails> }
>;

export type BrandEvent = BrandRegistered | BrandProfileChanged;

/** Schema versions: each type's upcasters, from version 1 on. */
export const brandVersions: EventVersions<BrandEvent> = {
  BrandRegistered: [],
  BrandProfileChanged: [],
};
