import { describe, it } from 'vitest';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { BrandProfile } from '#contracts/observations/brand-profile.ts';
import { brand, recordBrandProfile, registerBrand } from '#domain/corpus/brand.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { recordPageLink, socialPage } from '#domain/corpus/social-page.ts';
import { given } from '#tests/dsl/deciders.ts';

const BRAND = brandIdOf('soft-socks.example');
const at = (day: number): string => `2026-05-0${day}T00:00:00.000Z`;

const profile = (said: Partial<BrandProfile> = {}): BrandProfile => ({
  type: 'brand.profile',
  domain: 'soft-socks.example',
  observed_at: at(1),
  name: 'Soft Socks',
  description: null,
  url: null,
  logo_url: null,
  country: null,
  category_path: null,
  is_public: null,
  indexable: null,
  ...said,
});

const registered: BrandEvent = {
  type: 'BrandRegistered',
  data: {
    brand_id: BRAND,
    domain: 'soft-socks.example',
    slug: 'soft--socks-example',
    name: 'Soft Socks',
    description: null,
    url: 'https://soft-socks.example',
    logo_url: null,
    country: null,
    category_path: [],
    is_public: true,
    indexable: true,
    observed_at: at(1),
  },
};

describe('a brand', () => {
  it('is registered by its first profile', () => {
    given(brand).when(recordBrandProfile(profile())).records(registered);
  });

  it('is registered by its domain where only a scan names it, and once', () => {
    given(brand)
      .when(registerBrand('soft-socks.example', at(1)))
      .records({ ...registered, data: { ...registered.data, name: 'soft-socks.example' } });
    given(brand, registered)
      .when(registerBrand('soft-socks.example', at(2)))
      .records();
  });

  it('that only a scan named is described by a profile of before that scan', () => {
    const named = {
      ...registered,
      data: { ...registered.data, name: 'soft-socks.example', observed_at: at(5) },
    };
    given(brand, named)
      .when(recordBrandProfile(profile({ country: 'US' })))
      .records({
        type: 'BrandProfileChanged',
        data: { brand_id: BRAND, observed_at: at(1), changes: { name: 'Soft Socks', country: 'US' } },
      });
  });

  it('changes in what a later profile says, and only there', () => {
    const path = ['Apparel', 'Socks & Hosiery'];
    given(brand, registered)
      .when(recordBrandProfile(profile({ observed_at: at(2), country: 'US', category_path: path })))
      .records({
        type: 'BrandProfileChanged',
        data: {
          brand_id: BRAND,
          observed_at: at(2),
          changes: {
            country: 'US',
            category_path: [
              { id: categoryIdOf(['Apparel']), slug: 'apparel', name: 'Apparel' },
              { id: categoryIdOf(path), slug: 'socks-hosiery', name: 'Socks & Hosiery' },
            ],
          },
        },
      });
  });

  it('is not changed by an older profile, nor by a blank', () => {
    const changed: BrandEvent = {
      type: 'BrandProfileChanged',
      data: { brand_id: BRAND, observed_at: at(3), changes: { country: 'US' } },
    };
    given(brand, registered, changed)
      .when(recordBrandProfile(profile({ observed_at: at(2), country: 'DE' })))
      .records();
    given(brand, registered, changed)
      .when(recordBrandProfile(profile({ observed_at: at(4) })))
      .records();
  });
});

describe('a page', () => {
  const link = (said: { observed_at?: string; linked?: boolean; confidence?: number } = {}) => ({
    type: 'social_page.link' as const,
    brand_domain: 'soft-socks.example',
    page_id: '100000001',
    page_name: 'Socks',
    observed_at: at(1),
    role: 'OFFICIAL' as const,
    confidence: 0.9,
    linked: true,
    ...said,
  });
  const linked = {
    type: 'PageLinked' as const,
    data: {
      page_id: '100000001',
      page_name: 'Socks',
      brand_id: BRAND,
      role: 'OFFICIAL' as const,
      confidence: 0.9,
      observed_at: at(1),
    },
  };

  it('is linked, linked otherwise, and unlinked', () => {
    given(socialPage).when(recordPageLink(link(), BRAND)).records(linked);
    given(socialPage, linked)
      .when(recordPageLink(link({ observed_at: at(2), confidence: 0.5 }), BRAND))
      .records({ ...linked, data: { ...linked.data, confidence: 0.5, observed_at: at(2) } });
    given(socialPage, linked)
      .when(recordPageLink(link({ observed_at: at(2), linked: false }), BRAND))
      .records({ type: 'PageUnlinked', data: { page_id: '100000001', brand_id: BRAND, observed_at: at(2) } });
  });

  it('that was never linked cannot be unlinked, and an older observation changes nothing', () => {
    given(socialPage)
      .when(recordPageLink(link({ linked: false }), BRAND))
      .records();
    given(socialPage, { ...linked, data: { ...linked.data, observed_at: at(5) } })
      .when(recordPageLink(link({ observed_at: at(2), linked: false }), BRAND))
      .records();
  });
});
