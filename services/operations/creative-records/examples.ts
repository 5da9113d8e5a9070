import { AD_ID, BRAND_ID, brandReference } from '../endpoint/examples.ts';
import { CREATIVE_ID, CREATIVE_KEY, media } from '../creatives/examples.ts';

/** Examples of creative records in the API documentation. */
const BASE_URL = 'https://ads.example.com';

export const creativeRecordSummary = {
  ...media,
  depth: 'described',
  fields: {
    hook: 'problem',
    style: 'creator',
    presenter: 'customer',
    setting: 'outdoors',
    tone: 'informative',
    offer: 'none',
    audio: 'speech_and_music',
  },
  transcript_excerpt: 'My feet were always wet. Then I found the cove boot.',
  active_ads: 7,
  total_ads: 12,
  stored_at: '2026-11-02T06:20:00.000Z',
  as_of: '2026-11-03T09:12:00.000Z',
  url: `${BASE_URL}/v1/creative-records/${CREATIVE_KEY}`,
};

export const creativeRecord = {
  ...creativeRecordSummary,
  brands: [{ brand: brandReference, active_ads: 7, total_ads: 12 }],
  ads: [
    {
      id: AD_ID,
      brand_id: BRAND_ID,
      active: true,
      creative_id: CREATIVE_ID,
      url: `${BASE_URL}/v1/ads/${AD_ID}`,
    },
  ],
  frame_times_seconds: [0, 3.5, 7, 10.5, 14, 17.5, 21],
  read_frame_times_seconds: [0, 7, 14, 21],
  transcript: {
    text: 'My feet were always wet. Then I found the cave boot.',
    language: 'en',
    corrections: [{ heard: 'cave boot', meant: 'Cove boot' }],
  },
  shown_texts: ['Wet feet?', 'Cove boot'],
};

export const creativeCoverage = {
  brand: brandReference,
  measured_files: 48,
  images: 20,
  videos: 28,
  transcribed_files: 21,
  described_files: 12,
  fields: [
    {
      field: 'hook',
      values: [
        { value: 'problem', files: 7 },
        { value: 'offer', files: 4 },
      ],
      not_read: 1,
    },
  ],
};
