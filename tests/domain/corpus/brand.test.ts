import { brandProfile, recordProfile } from '#tests/dsl/site-events.ts';
import { describe, it } from 'vitest';
import type { BrandEvent, BrandRegistered } from '#contracts/events/corpus/brand.ts';
import type { BrandProfile } from '#contracts/observations/brand-profile.ts';
import { brand, registerBrand } from '#domain/corpus/brand.ts';
import { categoryPathOf } from '#domain/corpus/category.ts';
import { brandIdOf, categoryIdOf } from '#domain/ids.ts';
import { recordPageLink, socialPage } from '#domain/corpus/social-page.ts';
import { given } from '#tests/dsl/deciders.ts';

const BRAND = brandIdOf('soft-socks.example');
const at = (day: number): string => `2026-05-0${day}T00:00:00.000Z`;

const profile = (fields: Partial<BrandProfile> = {}): BrandProfile =>
  brandProfile({ domain: 'soft-socks.example', observed_at: at(1), name: 'Soft Socks', ...fields });

const registered: BrandRegistered = {
  type: 'BrandRegistered',
  data: {
    brand_id: BRAND,
    domain: 'soft-socks.example',
    slug: 'soft-socks',
    name: 'Soft Socks',
    description: null,
    url: 'https://soft-socks.example',
    logo_url: null,
    country: null,
    category_path: [],
    is_public: true,
    indexable: true,
    observed_at: at(1),
    stated: ['name'],
  },
};
const registeredByDomain = (day: number): BrandEvent => {
  const { stated: _stated, ...data } = registered.data;
  return {
    type: 'BrandRegistered',
    data: { ...data, name: 'soft-socks.example', observed_at: at(day) },
  };
};

describe('recordBrandProfile and registerBrand', () => {
  it('register the brand with its first profile', () => {
    given(brand).when(recordProfile(profile())).records(registered);
  });

  it('register the brand once by its domain when only a scan names it', () => {
    given(brand)
      .when(registerBrand('soft-socks.example', 'soft-socks', at(1)))
      .records(registeredByDomain(1));
    given(brand, registered)
      .when(registerBrand('soft-socks.example', 'soft-socks', at(2)))
      .records();
  });

  it('accept a profile older than the scan that registered the brand', () => {
    given(brand, registeredByDomain(5))
      .when(recordProfile(profile({ country: 'US' })))
      .records({
        type: 'BrandProfileChanged',
        data: { brand_id: BRAND, observed_at: at(1), changes: { name: 'Soft Socks', country: 'US' } },
      });
  });

  it('change only the fields that a later profile states', () => {
    const path = ['Apparel', 'Socks & Hosiery'];
    given(brand, registered)
      .when(recordProfile(profile({ observed_at: at(2), country: 'US', category_path: path })))
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
          confirmed: ['name'],
        },
      });
  });

  it('fill a field that only an older profile states, and name its categories', () => {
    const socks: BrandEvent = {
      type: 'BrandProfileChanged',
      data: {
        brand_id: BRAND,
        observed_at: at(3),
        changes: { category_path: categoryPathOf(['Apparel', 'Socks']) },
        confirmed: ['name'],
      },
    };
    given(brand, registered, socks)
      .when(
        recordProfile(
          profile({ observed_at: at(2), name: 'Older', country: 'DE', category_path: ['Hosiery'] }),
        ),
      )
      .records({
        type: 'BrandProfileChanged',
        data: {
          brand_id: BRAND,
          observed_at: at(2),
          changes: { country: 'DE' },
          confirmed: [],
          replaced_category_path: categoryPathOf(['Hosiery']),
        },
      });
  });

  it('record that nothing changed, so that an older profile overwrites nothing', () => {
    const again: BrandEvent = {
      type: 'BrandProfileChanged',
      data: { brand_id: BRAND, observed_at: at(4), changes: {}, confirmed: ['name'] },
    };
    given(brand, registered)
      .when(recordProfile(profile({ observed_at: at(4) })))
      .records(again);
    given(brand, registered, again)
      .when(recordProfile(profile({ observed_at: at(2), name: 'Between' })))
      .records();
  });

  it('record the time of a profile that is older than all others', () => {
    given(brand, { ...registered, data: { ...registered.data, observed_at: at(5) } })
      .when(recordProfile(profile({ observed_at: at(3), name: 'Older' })))
      .records({
        type: 'BrandProfileChanged',
        data: { brand_id: BRAND, observed_at: at(3), changes: {}, confirmed: [] },
      });
  });

  it('ignore an older profile and blanks', () => {
    const changed: BrandEvent = {
      type: 'BrandProfileChanged',
      data: { brand_id: BRAND, observed_at: at(3), changes: { country: 'US' }, confirmed: ['name'] },
    };
    given(brand, registered, changed)
      .when(recordProfile(profile({ observed_at: at(2), country: 'DE' })))
      .records();
    given(brand, registered, changed)
      .when(recordProfile(profile({ observed_at: at(4) })))
      .records({
        type: 'BrandProfileChanged',
        data: { brand_id: BRAND, observed_at: at(4), changes: {}, confirmed: ['name'] },
      });
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
        page_name: 'Socks',
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
