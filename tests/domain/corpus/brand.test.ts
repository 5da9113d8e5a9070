import { describe, it } from 'vitest';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { BrandProfile } from '#contracts/observations/brand-profile.ts';
import { brand, recordBrandProfile, registerBrand } from '#domain/corpus/brand.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { recordPageLink, socialPage } from '#domain/corpus/social-page.ts';
import { given } from '#tests/dsl/deciders.ts';

const BRAND = brandIdOf('soft-socks.example');
const at = (day: number): string => `2026-05-0${day}T00:00:00.000Z`;

const profile = (fields: Partial<BrandProfile> = {}): BrandProfile => ({
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
  ...fields,
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

describe('recordBrandProfile and registerBrand', () => {
  it('register the brand with its first profile', () => {
    given(brand).when(recordBrandProfile(profile())).records(registered);
  });

  it('register the brand once by its domain when only a scan names it', () => {
    given(brand)
      .when(registerBrand('soft-socks.example', at(1)))
      .records({ ...registered, data: { ...registered.data, name: 'soft-socks.example' } });
    given(brand, registered)
      .when(registerBrand('soft-socks.example', at(2)))
      .records();
  });

  it('accept a profile older than the scan that registered the brand', () => {
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

  it('change only the fields that a later profile states', () => {
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

  it('ignore an older profile and blanks', () => {
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

describe('recordPageLink', () => {
  const link = (fields: { observed_at?: string; linked?: boolean; confidence?: number } = {}) => ({
    type: 'social_page.link' as const,
    brand_domain: 'soft-socks.example',
    page_id: '100000001',
    page_name: 'Socks',
    observed_at: at(1),
    role: 'OFFICIAL' as const,
    confidence: 0.9,
    linked: true,
    ...fields,
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

  it('links a page, changes its link and unlinks it', () => {
    given(socialPage).when(recordPageLink(link(), BRAND)).records(linked);
    given(socialPage, linked)
      .when(recordPageLink(link({ observed_at: at(2), confidence: 0.5 }), BRAND))
      .records({ ...linked, data: { ...linked.data, confidence: 0.5, observed_at: at(2) } });
    given(socialPage, linked)
      .when(recordPageLink(link({ observed_at: at(2), linked: false }), BRAND))
      .records({ type: 'PageUnlinked', data: { page_id: '100000001', brand_id: BRAND, observed_at: at(2) } });
  });

  it('records an older observation, and unlinking of a page that was never linked, as history', () => {
    const unlinked = (day: number) => ({
      type: 'PageLinkObserved' as const,
      data: {
        page_id: '100000001',
        brand_id: BRAND,
        status: 'unlinked' as const,
        claim: 'OFFICIAL' as const,
        confidence: 0.9,
        observed_at: at(day),
      },
    });
    given(socialPage)
      .when(recordPageLink(link({ linked: false }), BRAND))
      .records(unlinked(1));
    given(socialPage, { ...linked, data: { ...linked.data, observed_at: at(5) } })
      .when(recordPageLink(link({ observed_at: at(2), linked: false }), BRAND))
      .records(unlinked(2));
  });
});
