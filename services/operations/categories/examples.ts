import { brandSummary } from '../endpoint/examples.ts';

/** Id derived from the category path `Apparel`; it is the same in every installation. */
export const CATEGORY_ID = '2555396a-6ae5-5c43-b6ee-79a8e134e0ec';

export const categoryExample = {
  id: CATEGORY_ID,
  slug: 'apparel',
  name: 'Apparel',
  url: `https://ads.example.com/v1/categories/${CATEGORY_ID}`,
  level: 1,
  parent: null,
  description: null,
  children: 9,
  totals: {
    brands: 1_204,
    active_ads: 88_310,
    total_ads: 641_022,
    brands_with_traffic: 1_117,
    monthly_visits: 214_300_000,
  },
  as_of: brandSummary.as_of,
};

export const categoryStatsExample = {
  category: brandSummary.category,
  brands: 1_204,
  landing_urls: 18_730,
  brands_with_traffic: 1_117,
  monthly_visits: 214_300_000,
  top_page_types: [
    { page_type: 'product', landing_urls: 9_412 },
    { page_type: 'collection', landing_urls: 4_207 },
  ],
  top_tools: [
    {
      tool: {
        id: '3f6d8b1a-9c2e-5f47-8a05-6b1d7e4c9f20',
        slug: 'arm-and-leg',
        name: 'Arm & Leg',
        category: 'A/B testing',
        website_url: 'https://arm-and-leg.example/',
        url: 'https://ads.example.com/v1/tools/arm-and-leg',
      },
      brands: 96,
    },
  ],
};
