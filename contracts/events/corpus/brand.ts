import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `brand-<brandId>`: the profile of a brand. */
export const BRAND = 'brand';
export const brandStream = (brandId: string): string => `${BRAND}-${brandId}`;

/** Paths run from the top level down. */
export type CategoryOnPath = { readonly id: string; readonly slug: string; readonly name: string };

export type BrandDetails = {
  readonly name: string;
  readonly description: string | null;
  readonly url: string;
  readonly logo_url: string | null;
  readonly country: string | null;
  readonly category_path: readonly CategoryOnPath[];
  readonly is_public: boolean;
  readonly indexable: boolean;
};

export type BrandRegistered = Event<
  'BrandRegistered',
  BrandDetails & {
    readonly brand_id: string;
    readonly domain: string;
    /** Reserved in `brandSlug-<slug>`. It never changes. */
    readonly slug: string;
    readonly observed_at: string;
    /** Stated by the first profile; the others are defaults. Absent when no profile registered the brand. */
    readonly stated?: readonly BrandField[];
  }
>;

export type BrandField = keyof BrandDetails;

export type BrandProfileChanged = Event<
  'BrandProfileChanged',
  {
    readonly brand_id: string;
    readonly observed_at: string;
    readonly changes: Partial<BrandDetails>;
    /** Fields that are stated unchanged at a later time. Absent: none. */
    readonly confirmed?: readonly BrandField[];
    /** Path of a profile that a newer one replaced before this one arrived. It names categories and moves nothing. */
    readonly replaced_category_path?: readonly CategoryOnPath[];
  }
>;

export type BrandEvent = BrandRegistered | BrandProfileChanged;

export const brandVersions: EventVersions<BrandEvent> = { BrandRegistered: [], BrandProfileChanged: [] };
