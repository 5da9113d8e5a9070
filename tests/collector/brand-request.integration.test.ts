import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { brandRequestsStream } from '#contracts/events/workspace/brand-request.ts';
import { trackingStream, workspaceStream } from '#contracts/events/workspace/workspace.ts';
import { SCRAPE_REQUESTED } from '#contracts/messages/subjects.ts';
import { executeCommand } from '#application/commands/command-handler.ts';
import { brandIdOf } from '#domain/ids.ts';
import {
  brandRequestIdOf,
  brandRequests as decider,
  requestBrand,
} from '#domain/workspace/brand-requests.ts';
import { tracking as trackingDecider } from '#domain/workspace/tracked-brands.ts';
import { createWorkspace, workspace } from '#domain/workspace/workspace.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { brandRequests } from '#projections/brand-requests/project.ts';
import { brands } from '#projections/brands/project.ts';
import { freshness } from '#projections/freshness/project.ts';
import { fulfilBrandRequests } from '#services/worker/brand-requests.ts';
import { createScanRequestTables, requestDueScans } from '#services/worker/scans/scan-cadence.ts';
import { metadataOf } from '#tests/dsl/metadata.ts';
import { until } from '#tests/stack/wait-until.ts';
import { answerSite } from '#tests/world/site-world.ts';
import { openCollectorStack } from './collector-stack.ts';
import { openRecordingService } from './weeks/recording-service.ts';

const WAIT_MS = 120_000;
const DOMAIN = 'asked.example';
const SITE = {
  domain: DOMAIN,
  name: 'Asked',
  description: 'Things',
  company: 'Asked GmbH',
  country: 'DE',
  scripts: [],
  products: ['shoe'],
};
const workspace_id = 'ws_1';
const at = '2026-05-01T08:00:00.000Z';

test('a collector reads the site of a requested domain, and the request is ready and tracked', async () => {
  await using stack = await openCollectorStack();
  await using service = await openRecordingService(stack, [brands, freshness, brandRequests]);
  await using db = openReadDatabase(stack.databaseUrl);
  const { eventStore } = service;
  stack.played.sites.set(DOMAIN, (path) => answerSite(SITE, { path }) ?? undefined);
  const metadata = { ...metadataOf('test'), workspace_id };
  await executeCommand(eventStore, {
    stream: workspaceStream(workspace_id),
    decider: workspace,
    decision: createWorkspace({ workspace_id, name: 'Tests', plan: 'free', at }),
    metadata,
    commandId: randomUUID(),
  });
  await executeCommand(eventStore, {
    stream: brandRequestsStream(workspace_id),
    decider,
    decision: requestBrand({
      workspace_id,
      domain: DOMAIN,
      social_page_id: null,
      track: true,
      cadence: 'daily',
      forecast: null,
      forecast_reason: null,
      plan: 'free',
      knownUrl: null,
      by: 'ada',
      at,
    }),
    metadata,
    commandId: randomUUID(),
  });
  await createScanRequestTables(stack.database);
  const clock = { now: () => new Date(stack.nowMs) };
  const publish = async (request: object): Promise<void> => {
    await stack.nats.jetstream.publish(SCRAPE_REQUESTED, JSON.stringify(request));
  };
  await until('the request of a scan', WAIT_MS, async () => {
    // The projector creates the tables after its start.
    const requested = requestDueScans({ db, database: stack.database, clock, publish });
    return (await requested.catch(() => 0)) === 1;
  });
  await using _ = stack.start({ sources: ['site'] });
  await until('the brand is registered', WAIT_MS, async () => {
    return (await fulfilBrandRequests({ db, eventStore, clock })) === 1;
  });
  const { requests } = (await eventStore.load(brandRequestsStream(workspace_id), decider)).state;
  expect(requests.get(brandRequestIdOf(workspace_id, DOMAIN))).toMatchObject({
    status: 'ready',
    tracking: 'tracked',
    slug: 'asked',
  });
  const { state } = await eventStore.load(trackingStream(workspace_id), trackingDecider);
  expect(state.brands.get(brandIdOf(DOMAIN))).toMatchObject({ cadence: 'daily' });
});
