import { z } from 'zod';
import { WINDOW_DAYS } from '#contracts/values/windows.ts';
import { Signal } from '#contracts/resources/workspace/signal.ts';
import { SIGNAL_THRESHOLDS, SignalKind } from '#contracts/values/signals.ts';
import { Refusal } from '#contracts/errors.ts';
import { listTrackedSignals } from '#projections/queries/tracked.ts';
import { isTrackedBrand } from '#projections/tracking/read.ts';
import { withBrand } from './brands/find-brand.ts';
import { pageReply } from './endpoint/reply.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { AD_ID, BASE_URL, BRAND_ID, WORKSPACE_ID, brandReference } from './endpoint/examples.ts';
import { omitUndefined } from './endpoint/omit-undefined.ts';
import {
  TIME_WINDOW_FAULT,
  brandParams,
  commaSeparated,
  isTimeWindow,
  pageQuery,
  timeWindow,
  wholeNumber,
  workspaceParams,
} from './endpoint/parameters.ts';
import { workspaceRead } from './endpoint/kinds.ts';

const DAYS_MAX = 365;
const DAYS_DEFAULT = WINDOW_DAYS.week;

const {
  ramp,
  drop,
  launch_burst: burst,
  sale,
  format_mix_shift: shift,
  long_runner_refreshed: longRunner,
} = SIGNAL_THRESHOLDS;
const percent = (share: number): string => `${Math.round(100 * share)} %`;

const THRESHOLDS = `
| kind | from where on |
|---|---|
| \`ads_started\`, \`ads_stopped\`, \`destinations_changed\` | one item of the radar that day |
| \`ramp\` | active ads up by ${percent(ramp.share)} and by ${ramp.ads} on the reliable day ${ramp.daysBefore} days before |
| \`drop\` | active ads down by ${percent(drop.share)} and by ${drop.ads} on the reliable day ${drop.daysBefore} days before |
| \`launch_burst\` | ${burst.ads} ads started, and ${burst.times} times the mean of the reliable days of the ${burst.windowDays} days before |
| \`sale\` | ${sale.ads} ads with sale copy started on a reliable day, or ${percent(sale.catalogueShare)} of a wholly read catalogue cheaper than at the scan before |
| \`new_landing_page\` | an ad that is news, or a changed link, leads to a page that none of the brand's ads led to |
| \`new_linked_page\` | a page observed to belong with the brand, after the first day of such observations |
| \`new_whitelisting_pair\` | a new ad on a page that ran none of the brand's, and is a creator's, a partner's or not linked |
| \`format_mix_shift\` | a format's share of active ads moved by ${100 * shift.share} points in ${shift.daysBefore} days, with ${shift.ads} active ads on both reliable days |
| \`long_runner_refreshed\` | copy or link changed ${longRunner.ageDays} days or more after the ad's start |
`;

const counts = {
  before: null,
  after: null,
  share_before: null,
  share_after: null,
  cheaper_share: null,
  usual: null,
  uncovered: null,
  withdrawn: 0,
  added: 0,
};

const rampSignal = {
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
  correction: null,
  brand: brandReference,
};

const refreshedSignal = {
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
  correction: null,
  brand: brandReference,
};

const NOT_TRACKED = new Refusal('not_found', 'The workspace does not track this brand. Track it first.');
const EARLIEST_TIME = '-infinity';

const kindsParameter = commaSeparated(
  z.array(SignalKind).min(1).optional().meta({ description: 'Only these kinds, separated by commas.' }),
);

export const listSignals = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/radar/signals',
  operationId: 'listSignals',
  tag: 'Radar',
  scope: 'tracking:read',
  summary: 'List signals',
  description: `What changed at tracked brands in the last \`days\` days, grouped by brand, day and kind, newest first: one signal each, with links to the items behind it. The window of a brand has UTC days and ends with the day of its last scan. Says what changed, not why. Only figures of reliable days are compared. A lasting change is reported once, on the first reliable day that shows it. What a scan that arrived late corrected is marked, and a withdrawn signal stays listed.\n${THRESHOLDS}`,
  query: z.strictObject({
    ...pageQuery,
    days: wholeNumber(
      z
        .int()
        .min(1)
        .max(DAYS_MAX)
        .default(DAYS_DEFAULT)
        .meta({ description: 'Number of days, counted back from the last scan.' }),
    ),
    kinds: kindsParameter,
  }),
  reply: { status: 200, shape: 'paged', data: Signal, example: [rampSignal, refreshedSignal] },
  reads: ['tracking', 'signals', 'freshness'],
  handler: async ({ params, query, page }, { db }) => {
    const { days, kinds } = query;
    const filter = { workspaceId: params.ws, window: { days }, ...omitUndefined({ kinds }) };
    const found = await listTrackedSignals(db, filter, page);
    return pageReply(found.page, found.asOf);
  },
});

export const listBrandSignals = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/tracked-brands/{brandId}/signals',
  operationId: 'listBrandSignals',
  tag: 'Radar',
  scope: 'tracking:read',
  summary: 'List the signals of a tracked brand',
  description:
    'Signals of one tracked brand as `GET /v1/workspaces/{ws}/radar/signals` shows them, newest first, from its first scan on or within times of observation. 404 when the workspace does not track the brand.',
  params: z.strictObject({ ...workspaceParams.shape, ...brandParams.shape }),
  query: z
    .strictObject({ ...pageQuery, kinds: kindsParameter, ...timeWindow })
    .refine(isTimeWindow, TIME_WINDOW_FAULT),
  body: null,
  paramsExample: { ws: WORKSPACE_ID, brandId: BRAND_ID },
  reply: { status: 200, shape: 'paged', data: Signal, example: [rampSignal] },
  errors: ['not_found'],
  corpus: false,
  reads: ['tracking', 'signals', 'brands'],
  beyondContract: true,
  handler: async ({ params, query, page }, { db }) => {
    const { since = EARLIEST_TIME, until, kinds } = query;
    const filter = { workspaceId: params.ws, window: { since, until }, ...omitUndefined({ kinds }) };
    const { found } = await withBrand(db, params.brandId, async (brandId) => {
      const [isTracked, signals] = await Promise.all([
        isTrackedBrand(db, params.ws, brandId),
        listTrackedSignals(db, { ...filter, brandId }, page),
      ]);
      if (!isTracked) throw NOT_TRACKED;
      return signals;
    });
    return pageReply(found.page, found.asOf);
  },
});
