import { brandReference } from '../endpoint/examples.ts';

export const PAGE_ID = '5d0f7c1e-2a84-5b39-8e6d-1c7a9f3b2e40';

export const landingPageSummary = {
  id: PAGE_ID,
  page_url: 'https://harbor-and-pine.com/products/cove-boot',
  host: 'harbor-and-pine.com',
  title: 'Cove boot – Harbor & Pine',
  page_type: 'product',
  page_type_confidence: 0.94,
  live: true,
  active_ads: 12,
  total_ads: 31,
  first_seen_at: '2026-09-14T06:00:00.000Z',
  as_of: '2026-11-19T06:00:00.000Z',
  brand: brandReference,
  url: `https://ads.example.com/v1/pages/${PAGE_ID}`,
};

export const landingPage = {
  ...landingPageSummary,
  brands: [{ brand: brandReference, active_ads: 12, total_ads: 31 }],
  description: 'A waterproof boot for the coast.',
  language: 'en-US',
  canonical_url: 'https://harbor-and-pine.com/products/cove-boot',
  http_status: 200,
  headings: ['Cove boot', 'Made for wet days'],
  cta_texts: ['Add to bag'],
  scraped_at: '2026-11-12T08:30:00.000Z',
  classified_at: '2026-11-12T08:31:00.000Z',
};
