import { z } from 'zod';
import { RadarStatement, ruleOf } from '#contracts/audit/proof.ts';
import { Refusal } from '#contracts/errors.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import { WINDOW_DAYS } from '#contracts/values/windows.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { RadarItem, RadarItemType } from '#contracts/resources/workspace/radar.ts';
import { streamsOfBrand } from '#application/as-of/event-streams.ts';
import { toRadarItem } from '#application/audit/recompute.ts';
import { findBrandOfTrackedItem, listTrackedRadar, readBrandsOfItems } from '#projections/queries/tracked.ts';
import { findRadarItem } from '#projections/radar/read.ts';
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
import { PROOF_DIGESTS, proofExample, proofShape, replyWithProof } from './endpoint/proof-reply.ts';
import { notRecorded, requirePast } from './endpoint/read-past.ts';
import { workspaceRead } from './endpoint/kinds.ts';

const DAYS_MAX = 365;
const DAYS_DEFAULT = WINDOW_DAYS.week;

const windowOfDay = (date: string) => ({
  since: new Date(Date.parse(date)).toISOString(),
  until: new Date(Date.parse(date) + DAY_MS).toISOString(),
});

export const listRadar = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/radar',
  operationId: 'listRadar',
  tag: 'Radar',
  scope: 'tracking:read',
  summary: 'List observed changes',
  description:
    'Ads started, ads confirmed inactive and changed destinations at tracked brands in the last `days` days, newest first. The window of a brand has UTC days and ends with the day of its last scan. Says what changed, not why.',
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
  reply: { status: 200, shape: 'paged', data: RadarItem, example: [radarItem] },
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

const RadarItemProof = z
  .strictObject({ statement: RadarStatement, ...proofShape })
  .meta({ id: 'RadarItemProof', description: 'An item of the radar with all that it takes to check it.' });

const statementExample: RadarStatement = {
  about: 'radar_item',
  item: RadarItem.parse(radarItem),
  as_of: '2026-11-20T06:00:00.000Z',
  streams: [{ stream: `adLibrary-${radarItem.brand.id}`, revision: '812' }],
};

const ITEM_UNKNOWN = new Refusal('not_found', 'The radar of the workspace has no such item.');

export const getRadarItemProof = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/radar/{itemId}/proof',
  operationId: 'getRadarItemProof',
  tag: 'Radar',
  scope: 'tracking:read',
  summary: 'Read the proof of a radar item',
  description: `An item as the radar told it at a moment, its rule, and a link to a bundle of every event of the brands that it rests on. The bundle has no stream of a workspace. ${PROOF_DIGESTS}`,
  params: z.strictObject({
    ...workspaceParams.shape,
    itemId: Uuid.toLowerCase().meta({ description: 'Id of a radar item of a tracked brand.' }),
  }),
  query: z.strictObject({
    as_of: pastQuery.as_of.unwrap().optional().meta({
      description: 'The moment: events recorded by then count. Now when absent.',
    }),
  }),
  body: null,
  paramsExample: { ws: WORKSPACE_ID, itemId: radarItem.id },
  reply: {
    status: 200,
    shape: 'record',
    data: RadarItemProof,
    example: { statement: statementExample, rule: ruleOf(statementExample), ...proofExample },
  },
  errors: ['not_found'],
  corpus: false,
  heavy: true,
  reads: ['radar', 'tracking', 'ads'],
  beyondContract: true,
  handler: async ({ params: { ws, itemId }, query }, dependencies) => {
    const { db, pastReads, pastPlaces, clock, baseUrl } = dependencies;
    const now = clock.now();
    const moment = query.as_of === undefined ? now : requirePast('as_of', query.as_of, now);
    const brandId = await findBrandOfTrackedItem(db, ws, itemId);
    if (brandId === null) throw ITEM_UNKNOWN;
    const past = {
      streams: [brandId, ...(await readBrandsOfItems(db, brandId))].flatMap(streamsOfBrand),
      ofTracked: null,
      readModels: ['radar'],
      until: { recordedUntil: moment },
    };
    const { result: found, basis } = await pastPlaces(ws, () =>
      pastReads.read(past, (of) => findRadarItem(of, itemId)),
    );
    if (found === null) throw notRecorded({ now: moment }, basis.earliest, now);
    const item = toRadarItem(found, baseUrl);
    const proof = await replyWithProof<RadarStatement>(
      { about: 'radar_item', item, as_of: moment.toISOString() },
      basis.streams,
      dependencies,
    );
    return { data: JSON.stringify(proof), asOf: query.as_of ?? null };
  },
});
