import { test } from 'vitest';
import { brandRequestsStream } from '#contracts/events/workspace/brand-request.ts';
import { brandRequests } from '#projections/brand-requests/project.ts';
import {
  findBrandRequest,
  listAllBrandRequests,
  listBrandRequests,
} from '#projections/brand-requests/read.ts';
import { given } from '../dsl/projections.ts';
import { recordedStreams, readSampleFiles } from '../contracts/events/released/samples.ts';

const WORKSPACE = 'ws_released';
const REQUEST_ID = 'dde5c000-012e-5484-8314-9ff4a0a43e73';
const STREAM = brandRequestsStream(WORKSPACE);
const events = readSampleFiles().flatMap(({ samples }) => recordedStreams(samples).get(STREAM) ?? []);
const shown = given(events.map(({ stream, type, data }) => ({ stream, event: { type, data } }))).into(
  brandRequests,
);

test('brand requests show their status, reason and outcome, newest first', async () => {
  const page = { limit: 10, after: null };
  await shown.shows(
    async (db) =>
      (await listBrandRequests(db, WORKSPACE, undefined, page)).rows.map(
        ({ domain, status, reason, tracking, slug }) => ({ domain, status, reason, tracking, slug }),
      ),
    [
      {
        domain: 'waiting.example',
        status: 'refused',
        reason: 'The domain sells nothing.',
        tracking: 'not_asked',
        slug: null,
      },
      { domain: 'asked.example', status: 'ready', reason: null, tracking: 'tracked', slug: 'asked-example' },
    ],
  );
  await shown.shows(
    async (db) => (await listAllBrandRequests(db, 'refused')).map(({ domain }) => domain),
    ['waiting.example'],
  );
  await shown.shows(async (db) => (await findBrandRequest(db, WORKSPACE, REQUEST_ID))?.forecast, {
    calls: 11,
    days: 0.4,
  });
});
