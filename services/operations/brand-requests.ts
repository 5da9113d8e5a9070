import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { brandRequestsStream } from '#contracts/events/workspace/brand-request.ts';
import {
  ACCEPTED_AT_ONCE_MAX,
  BRAND_REQUESTS_MAX,
  BRAND_REQUESTS_OPEN_MAX,
  BrandRequest,
  BrandRequestStatus,
  RequestBrand,
} from '#contracts/resources/workspace/brand-request.ts';
import { arrayText } from '#contracts/values/json-text.ts';
import { Uuid } from '#contracts/values/primitives.ts';
import { brandIdOf } from '#domain/ids.ts';
import {
  brandRequestIdOf,
  brandRequests,
  requestBrand as decideToRequest,
} from '#domain/workspace/brand-requests.ts';
import { forecastFirstReading } from '#application/collecting/plan-sources.ts';
import {
  type BrandRequestRow,
  findBrandRequest,
  listBrandRequests as readBrandRequests,
} from '#projections/brand-requests/read.ts';
import { endpoint } from './endpoint/define-endpoint.ts';
import { WORKSPACE_ID } from './endpoint/examples.ts';
import { noQuery, pageQuery, workspaceParams } from './endpoint/parameters.ts';
import { findSlug } from './tracked-brands.ts';
import { workspaceRead, workspaceWrite } from './endpoint/kinds.ts';

const REQUEST_ID = 'b0a4b5a2-3b6e-5c0d-9c55-6a8d3a1b7e42';
const example: BrandRequest = {
  id: REQUEST_ID,
  status: 'collecting',
  domain: 'quiet-harbor.example',
  page_id: null,
  track: true,
  cadence: 'weekly',
  tracking: 'waiting',
  forecast: { calls: 11, days: 0.4 },
  forecast_reason: null,
  reason: null,
  brand_id: null,
  url: null,
  created_by: 'mem_5t8w1z4c7m3x9q2v',
  created_at: '2026-11-20T09:30:00.000Z',
  decided_at: '2026-11-20T09:30:00.000Z',
  ready_at: null,
};

const requestText = (row: BrandRequestRow, baseUrl: string): string => {
  const { request_id, slug, forecast, requested_by, requested_at } = row;
  const request: BrandRequest = {
    id: request_id,
    status: row.status,
    domain: row.domain,
    page_id: row.social_page_id,
    track: row.track,
    cadence: row.cadence,
    tracking: row.tracking,
    forecast: forecast && { calls: forecast.calls, days: forecast.days },
    forecast_reason: row.forecast_reason,
    reason: row.reason,
    brand_id: slug === null ? null : row.brand_id,
    url: slug === null ? null : `${baseUrl}/v1/brands/${slug}`,
    created_by: requested_by,
    created_at: requested_at,
    decided_at: row.decided_at,
    ready_at: row.ready_at,
  };
  return JSON.stringify(request);
};

export const getBrandRequest = endpoint({
  method: 'GET',
  path: '/v1/workspaces/{ws}/brand-requests/{requestId}',
  operationId: 'getBrandRequest',
  tag: 'Tracked brands',
  scope: 'tracking:read',
  summary: 'Read a brand request',
  description: 'One request for a brand, with its status.',
  params: z.strictObject({
    ...workspaceParams.shape,
    requestId: Uuid.toLowerCase().meta({ description: 'Id of a brand request.' }),
  }),
  query: noQuery,
  body: null,
  paramsExample: { ws: WORKSPACE_ID, requestId: REQUEST_ID },
  reply: { status: 200, shape: 'record', data: BrandRequest, example },
  errors: ['not_found'],
  corpus: false,
  reads: ['brand-requests'],
  beyondContract: true,
  handler: async ({ params }, { db, baseUrl }) => {
    const row = await findBrandRequest(db, params.ws, params.requestId);
    if (!row) throw new Refusal('not_found', 'Brand request not found.');
    return { data: requestText(row, baseUrl), asOf: null };
  },
});

export const listBrandRequests = endpoint({
  ...workspaceRead,
  path: '/v1/workspaces/{ws}/brand-requests',
  operationId: 'listBrandRequests',
  tag: 'Tracked brands',
  scope: 'tracking:read',
  summary: 'List brand requests',
  description: 'The requests of the workspace for brands, newest first.',
  query: z.strictObject({
    ...pageQuery,
    status: BrandRequestStatus.optional().meta({ description: 'Requests of this status only.' }),
  }),
  reply: { status: 200, shape: 'paged', data: BrandRequest, example: [example] },
  reads: ['brand-requests'],
  beyondContract: true,
  handler: async ({ params, query, page }, { db, baseUrl }) => {
    const { rows, next } = await readBrandRequests(db, params.ws, query.status, page);
    const items = rows.map((row) => requestText(row, baseUrl));
    return { data: arrayText(items), asOf: null, count: items.length, next };
  },
});

/** Allowances of each plan, as the description names them. */
const ALLOWANCES = Object.entries(ACCEPTED_AT_ONCE_MAX)
  .map(([plan, requests]) => `${plan} ${requests}`)
  .join(', ');

const NO_FORECAST = 'No collector has run in this installation yet, so nothing can be forecast.';

export const requestBrand = endpoint({
  ...workspaceWrite,
  path: '/v1/workspaces/{ws}/brand-requests',
  operationId: 'requestBrand',
  tag: 'Tracked brands',
  scope: 'tracking:write',
  summary: 'Request a brand',
  description: `Asks for a brand that the service does not know, by its domain. The request is accepted at once while the plan's allowance of requests that are being collected lasts: ${ALLOWANCES}. Others wait for an operator. It is \`ready\` as soon as the brand is observed; with \`track\` the workspace then tracks it, if a slot is free. A domain that the workspace requested before gets the first request, unchanged. 409 for a domain whose brand is known, with its address and id; when ${BRAND_REQUESTS_OPEN_MAX} requests are open; or when the workspace has made ${BRAND_REQUESTS_MAX}.`,
  body: { schema: RequestBrand, example: { domain: example.domain, track: true, cadence: 'weekly' } },
  reply: { status: 201, shape: 'record', data: BrandRequest, example },
  reads: [],
  beyondContract: true,
  handler: async ({ params, body, caller, execute }, dependencies) => {
    const { eventStore, pool, clock, baseUrl, workspaceCommands } = dependencies;
    const workspace_id = params.ws;
    const { domain, page_id = null, track, cadence } = body;
    const now = clock.now();
    const stream = brandRequestsStream(workspace_id);
    const id = brandRequestIdOf(workspace_id, domain);
    const { state: before } = await workspaceCommands.load(stream, brandRequests);
    const [slug, forecast] = before.requests.has(id)
      ? [null, null]
      : await Promise.all([
          findSlug(eventStore, brandIdOf(domain)),
          forecastFirstReading(pool, now, domain, cadence),
        ]);
    const { state, position } = await execute({
      stream,
      decider: brandRequests,
      decision: decideToRequest({
        workspace_id,
        domain,
        social_page_id: page_id,
        track,
        cadence,
        forecast,
        forecast_reason: forecast === null ? NO_FORECAST : null,
        plan: caller.plan,
        knownUrl: slug === null ? null : `${baseUrl}/v1/brands/${slug}`,
        by: caller.memberId,
        at: now.toISOString(),
      }),
      shownIn: ['brand-requests'],
    });
    const request = state.requests.get(id);
    if (!request) throw new Error('requested brand has no request');
    return { data: requestText(request, baseUrl), asOf: null, position };
  },
});
