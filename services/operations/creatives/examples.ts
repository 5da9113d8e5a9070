import { AD_ID, adSummary, BRAND_ID, brandReference, formats } from '../endpoint/examples.ts';

/** Examples of creatives in the API documentation. */
const BASE_URL = 'https://ads.example.com';
export const CREATIVE_ID = '8c1e5a70-3f2b-5d84-9b6a-2e7d0c4f1a95';
export const CREATIVE_KEY = '3f9a1c7e5b2d84f6a0c9e3b71d5f2a8846c0e9d7b3a15f6c2e8d4b7091a3c5ef';

export const media = {
  creative_key: CREATIVE_KEY,
  media_kind: 'video',
  content_type: 'video/mp4',
  bytes: 4_182_016,
  width: 1_080,
  height: 1_920,
  duration_seconds: 21.4,
  media_url: `https://media.example.com/${CREATIVE_KEY}.mp4`,
  poster_url: `https://media.example.com/${CREATIVE_KEY}.jpg`,
};

export const creative = {
  id: CREATIVE_ID,
  ad_id: AD_ID,
  brand_id: BRAND_ID,
  ...media,
  ad_active: true,
  first_seen_at: '2026-11-02T06:00:00.000Z',
  as_of: '2026-11-03T09:12:00.000Z',
  url: `${BASE_URL}/v1/creatives/${CREATIVE_ID}`,
  record_url: `${BASE_URL}/v1/creative-records/${CREATIVE_KEY}`,
};

export const brandThumbs = {
  brand_id: BRAND_ID,
  thumbs: [
    {
      creative_id: CREATIVE_ID,
      creative_key: CREATIVE_KEY,
      ad_id: AD_ID,
      media_kind: 'video',
      image_url: media.poster_url,
      width: media.width,
      height: media.height,
      started_on: '2026-11-02',
    },
  ],
};

const libraryAd = {
  id: AD_ID,
  page: adSummary.page,
  format: 'video',
  title: adSummary.title,
  body: adSummary.body,
  cta_type: 'SHOP_NOW',
  started_on: '2026-11-02',
  days_active: 18,
  creatives: [creative],
  url: `${BASE_URL}/v1/ads/${AD_ID}`,
};

export const creativeLibrary = {
  brand: brandReference,
  sample_cap: 20,
  longest_running: [libraryAd],
  newest: [],
  totals: {
    active_ads: 126,
    with_stored_media: 1,
    formats,
    ctas: [
      { cta_type: 'SHOP_NOW', ads: 97 },
      { cta_type: null, ads: 29 },
    ],
    longevity: { days_0_6: 17, days_7_29: 48, days_30_89: 44, days_90_plus: 17, longest_days: 212 },
  },
};
