import { AD_ID, BRAND_ID, brandReference } from '../endpoint/examples.ts';

const BASE_URL = 'https://ads.example.com';

const counts = {
  before: null,
  after: null,
  share_before: null,
  share_after: null,
  cheaper_share: null,
  usual: null,
  uncovered: null,
};

export const rampSignal = {
  id: 'b1c52f0e-7a34-8d19-86c0-2f9e4d7a5b63',
  kind: 'ramp',
  date: '2026-11-20',
  observed_at: '2026-11-20T06:00:00.000Z',
  summary: 'Active ads went from 84 to 131 in 7 days.',
  counts: { ...counts, items: 131, before: 84, after: 131, uncovered: 0 },
  compared_with: '2026-11-13',
  format: null,
  about: [],
  evidence: [
    {
      resource: 'daily_activity',
      url: `${BASE_URL}/v1/brands/${BRAND_ID}/daily-activity?from=2026-11-13&to=2026-11-20`,
    },
  ],
  brand: brandReference,
};

export const refreshedSignal = {
  id: '4e8d6a17-92bf-8c03-b5d1-70a3f6c91e28',
  kind: 'long_runner_refreshed',
  date: '2026-11-19',
  observed_at: '2026-11-19T06:00:00.000Z',
  summary: 'Copy or link changed in 1 ad started 60 or more days before.',
  counts: { ...counts, items: 1 },
  compared_with: null,
  format: null,
  about: [
    { ad: { id: AD_ID, url: `${BASE_URL}/v1/ads/${AD_ID}` }, page: null, role: null, destination_url: null },
  ],
  evidence: [{ resource: 'ad', url: `${BASE_URL}/v1/ads/${AD_ID}` }],
  brand: brandReference,
};
