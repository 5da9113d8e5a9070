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
    /**
     * The fields that the first profile states; the others are defaults. Absent when no profile registered the brand,
     * and in events of earlier releases.
     */
    readonly stated?: readonly BrandField[];
  }
>;

export type BrandField = keyof BrandDetails;

/** The brand was described with other values, later than before, or earlier than ever. */
export type BrandProfileChanged = Event<
  'BrandProfileChanged',
  {
    readonly brand_id: string;
    readonly observed_at: string;
    /** Only the changed fields. */
    readonly changes: Partial<BrandDetails>;
    /** Fields that the profile states as they were, later than before. Absent in events of earlier releases. */
    readonly confirmed?: readonly BrandField[];
    /** Path of a profile that a newer one replaced before this one arrived. It names categories and moves nothing. */
    readonly replaced_category_path?: readonly CategoryOnPath[];
  }
>;

export type BrandEvent = BrandRegistered | BrandProfileChanged;

/** Schema versions: each type's upcasters, from version 1 on. */
export const brandVersions: EventVersions<BrandEvent> = {
  BrandRegistered: [],
  BrandProfileChanged: [],
};
