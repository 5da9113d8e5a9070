import { CREATIVE_KEY, media } from '../creatives/examples.ts';
import { BASE_URL } from '../endpoint/examples.ts';

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
