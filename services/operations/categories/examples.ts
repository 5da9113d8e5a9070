import { brandSummary } from '../endpoint/examples.ts';

/** Derived from the path `Apparel`, so it is equal in every installation. */
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
