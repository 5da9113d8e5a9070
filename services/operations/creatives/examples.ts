import { AD_ID, BASE_URL, BRAND_ID } from '../endpoint/examples.ts';

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
