import { z } from 'zod';
import {
  Partnership,
  ReusedCopy,
  SocialPage,
  BrandNetwork,
} from '#contracts/resources/corpus/social-page.ts';
import { listReusedCopy, listSocialPages } from '#projections/social-pages/read.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { readNewestScan, readScannedAt } from '#projections/shared-tables/applied-scan.ts';
import { readNetworkOfBrand, readNetworkOfCategory } from '#projections/social-pages/read-network.ts';
import { findCategory } from '#projections/categories/read.ts';
import { OperatorOfBrand } from '#contracts/resources/corpus/operator.ts';
import { listOperatorsOfBrand } from '#projections/operators/read.ts';
import { listPartnerships } from '#projections/partnerships/read.ts';
import { brandList, withBrand } from './find-brand.ts';
import {
  BRAND_ID,
  CREATOR_PAGE,
  OTHER_BRAND_ID,
  adSummary,
  brandReference,
  operatorFields,
  otherBrandReference,
} from '../endpoint/examples.ts';
import { endpoint } from '../endpoint/define-endpoint.ts';
import { brandUuidOrSlug, noParams } from '../endpoint/parameters.ts';
import { CATEGORY_UNKNOWN } from '../categories.ts';

const reusedCopyExample = {
  body: adSummary.body,
  brand_ads: 4,
  foreign_ads: 3,
  foreign_pages: 1,
  largest_foreign_pages: [{ page: { page_id: '118273645546372', page_name: 'Boot Outlet' }, active_ads: 3 }],
};

export const getBrandCopyReuse = brandList({
  path: '/v1/brands/{brandId}/copy-reuse',
  operationId: 'getBrandCopyReuse',
  scope: 'brands:read',
  summary: "Read which of a brand's texts run elsewhere",
  description:
    'Ad texts of the brand that pages not linked to it run too, most foreign ads first, at most twelve. Texts are equal when they have the same words in the same order; catalogue templates do not count. The figures do not say who wrote a text first.',
  reply: { data: ReusedCopy, example: [reusedCopyExample] },
  reads: ['brands', 'social-pages'],
  list: listReusedCopy,
});

const EMPTY_NETWORK = JSON.stringify({
  brands: [],
  links: [],
  brands_with_link: 0,
  brands_without_link: 0,
} satisfies z.infer<typeof BrandNetwork>);

const Query = z
  .strictObject({
    brand_id: brandUuidOrSlug.optional(),
    category_id: Uuid.optional().meta({
      description: 'Network of the public brands of this category, of any level.',
    }),
  })
  .refine(({ brand_id, category_id }) => (brand_id === undefined) !== (category_id === undefined), {
    path: ['brand_id'],
    message: 'Send either `brand_id` or `category_id`.',
  });

const networkExample = {
  brands: [
    { brand: brandReference, linked_brands: 1 },
    { brand: otherBrandReference, linked_brands: 1 },
  ],
  links: [{ brand_ids: [BRAND_ID, OTHER_BRAND_ID], shared_pages: 1, confidence: 0.5 }],
  brands_with_link: 2,
  brands_without_link: 0,
};

export const getBrandNetwork = endpoint({
  method: 'GET',
  path: '/v1/brand-network',
  operationId: 'getBrandNetwork',
  tag: 'Brands',
  scope: 'brands:read',
  summary: 'Read a network of brands',
  description:
    'Brands that share pages, by ads or by links: those around one brand (itself and its direct neighbours), or those of one category. Give either `brand_id` or `category_id`. Sharing a page is an observed association, not ownership.',
  params: noParams,
  query: Query,
  body: null,
  paramsExample: {},
  reply: { status: 200, shape: 'record', data: BrandNetwork, example: networkExample },
  errors: ['not_found'],
  corpus: true,
  reads: ['brands', 'social-pages', 'categories'],
  handler: async ({ query }, { db }) => {
    if (query.brand_id !== undefined) {
      const { brand, found } = await withBrand(db, query.brand_id, (id) =>
        Promise.all([readScannedAt(db, 'social_pages', id), readNetworkOfBrand(db, id)]),
      );
      const [asOf, data] = found;
      return { data, asOf: asOf ?? brand.profiled_at };
    }
    const [scannedAt, network] = await Promise.all([
      readNewestScan(db, 'social_pages'),
      readNetworkOfCategory(db, query.category_id ?? ''),
    ]);
    if (network === null && !(await findCategory(db, query.category_id ?? ''))) throw CATEGORY_UNKNOWN;
    return { data: network ?? EMPTY_NETWORK, asOf: scannedAt };
  },
});

const operatorOfBrandExample = {
  ...operatorFields,
  bases: ['site_imprint'],
  other_brands: [otherBrandReference],
};

export const listBrandOperators = brandList({
  path: '/v1/brands/{brandId}/operators',
  operationId: 'listBrandOperators',
  scope: 'operators:read',
  summary: 'List the operators of a brand',
  description:
    'Companies observed with the domain of the brand, most domains and pages first, each with its other public brands.',
  reply: { data: OperatorOfBrand, example: [operatorOfBrandExample] },
  reads: ['brands', 'operators'],
  list: listOperatorsOfBrand,
});

const partnershipExample = {
  creator: CREATOR_PAGE,
  ads: 14,
  brand_page_ads: 5,
  creator_page_ads: 9,
  active_ads: 6,
  first_seen_on: '2026-08-30',
  last_seen_on: '2026-11-20',
};

export const listBrandPartnerships = brandList({
  path: '/v1/brands/{brandId}/partnerships',
  operationId: 'listBrandPartnerships',
  scope: 'brands:read',
  summary: "List a brand's branded-content creators",
  description:
    'Creators who ran branded content with the brand in the 365 days before `meta.as_of`, most ads first. Counts ads of the brand that name the creator and ads of the creator that name the brand. Ads are no evidence of a contract.',
  reply: { data: Partnership, example: [partnershipExample] },
  reads: ['brands', 'partnerships'],
  list: listPartnerships,
});

const pageProfile = {
  username: 'harborandpine',
  page_category: 'Shoe store',
  verified: true,
  followers: 48_210,
  likes: 45_902,
};

const socialPageExample = {
  page_id: adSummary.page.page_id,
  page_name: adSummary.page.page_name,
  role: 'OFFICIAL',
  confidence: 0.98,
  active_ads: 97,
  total_ads: 701,
  ...pageProfile,
  profiles: [
    {
      source: 'library',
      observed_at: '2026-11-19T04:00:00.000Z',
      page_name: adSummary.page.page_name,
      ...pageProfile,
    },
  ],
};

export const listBrandSocialPages = brandList({
  path: '/v1/brands/{brandId}/social-pages',
  operationId: 'listBrandSocialPages',
  scope: 'brands:read',
  summary: 'List the social pages of a brand',
  description:
    'Pages linked to the brand, most active ads first. Withheld links are left out; the role is `UNVERIFIED` when the claimed one may not be published. Links are observed associations, never ownership.',
  reply: { data: SocialPage, example: [socialPageExample] },
  reads: ['brands', 'social-pages'],
  list: listSocialPages,
});
