import { z } from 'zod';
import { DAY_MS } from '#contracts/values/time.ts';
import { WINDOW_DAYS } from '#contracts/values/windows.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { RadarItem, RadarItemType } from '#contracts/resources/workspace/radar.ts';
import { listTrackedRadar } from '#projections/queries/tracked.ts';
import { pageReply } from './endpoint/reply.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { WORKSPACE_ID, radarItem } from './endpoint/examples.ts';
import { omitUndefined } from './endpoint/omit-undefined.ts';
import {
  pastQuery,
  commaSeparated,
  dateParameter,
  pageQuery,
  wholeNumber,
  workspaceParams,
} from './endpoint/parameters.ts';

const DAYS_MAX = 365;
const DAYS_DEFAULT = WINDOW_DAYS.week;

const windowOfDay = (date: string) => ({
  since: new Date(Date.parse(date)).toISOString(),
  until: new Date(Date.parse(date) + DAY_MS).toISOString(),
});

export const listRadar = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/radar',
  operationId: 'listRadar',
  tag: 'Radar',
  scope: 'tracking:read',
  summary: 'List observed changes',
  description:
    'Ads started, ads confirmed inactive and changed destinations at tracked brands in the last `days` days, newest first. The window of a brand has UTC days and ends with the day of its last scan. Says what changed, not why.',
  params: workspaceParams,
  query: z.strictObject({
    ...pastQuery,
    ...pageQuery,
    days: wholeNumber(
      z
        .int()
        .min(1)
        .max(DAYS_MAX)
        .default(DAYS_DEFAULT)
        .meta({ description: 'Number of days, counted back from the last scan.' }),
    ),
    types: commaSeparated(
      z
        .array(RadarItemType)
        .min(1)
        .optional()
        .meta({ description: 'Only these types, separated by commas.' }),
    ),
    brand_id: Uuid.optional().meta({ description: 'Only this tracked brand.' }),
    date: dateParameter('Only what was observed on this day, in UTC, whatever `days` is.'),
  }),
  body: null,
  paramsExample: { ws: WORKSPACE_ID },
  reply: { status: 200, shape: 'paged', data: RadarItem, example: [radarItem] },
  errors: ['not_found'],
  corpus: false,
  past: 'workspace',
  reads: ['tracking', 'radar', 'freshness'],
  handler: async ({ params, query, page }, { db }) => {
    const { date, days, types, brand_id: brandId } = query;
    const window = date === undefined ? { days } : windowOfDay(date);
    const filter = { workspaceId: params.ws, window, ...omitUndefined({ types, brandId }) };
    const found = await listTrackedRadar(db, filter, page);
    return pageReply(found.page, found.asOf);
  },
});
