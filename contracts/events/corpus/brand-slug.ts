import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `brandSlug-<slug>`: the brand that has the slug, recorded before the brand is registered with it. */
export const BRAND_SLUG = 'brandSlug';
export const brandSlugStream = (slug: string): string => `${BRAND_SLUG}-${slug}`;

export type BrandSlugReserved = Event<
  'BrandSlugReserved',
  {
    readonly slug: string;
    readonly brand_id: string;
    readonly domain: string;
    readonly observed_at: string;
  }
>;

export const brandSlugVersions: EventVersions<BrandSlugReserved> = { BrandSlugReserved: [] };
