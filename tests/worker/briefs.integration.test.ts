import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { trackingStream } from '#contracts/events/workspace/workspace.ts';
import { silentLog } from '#platform/logger.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { type BriefDependencies, prepareDueBriefs } from '#services/worker/weekly-briefs.ts';
import { type CorpusBrand, seedCorpus } from '../operations/fixtures/corpus.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { on } from '../dsl/api.ts';

/** The corpus changes six hours before this time, in the week from 4 to 10 May 2026. */
const WEDNESDAY = Date.parse('2026-05-06T12:00:00.000Z');
/** A time in the week before, so that a brief without changes is due for that week too. */
const TRACKED_AT = '2026-05-01T00:00:00.000Z';

let stack: ApiStack;
let app: FastifyInstance;
let brands: readonly CorpusBrand[];
let dependencies: BriefDependencies;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  app = await stack.api();
  const seeded = await seedCorpus(stack.eventStore, ['alpha', 'beta'], WEDNESDAY);
  await stack.projected(seeded.position);
  ({ brands } = seeded);
  dependencies = {
    db: resources.use(openReadDatabase(stack.environment['DATABASE_URL'] ?? '')),
    eventStore: stack.eventStore,
    projectionWait: stack.projectionWait,
    clock: { now: () => new Date() },
    log: silentLog(),
  };
});
afterAll(() => resources.disposeAsync());

const { signal } = new AbortController();
const prepareAt = (now: string): Promise<number> =>
  prepareDueBriefs({ ...dependencies, clock: { now: () => new Date(now) } }, signal);

/** Creates a workspace that tracks these brands since this time. */
const trackingSince = async (tracked_at: string, tracked: readonly CorpusBrand[]): Promise<Key> => {
  const key = await stack.key();
  const workspace_id = key.workspaceId;
  const { position } = await stack.eventStore.append(
    trackingStream(workspace_id),
    -1n,
    tracked.map(({ id }) => ({
      type: 'BrandTracked',
      data: { workspace_id, brand_id: id, cadence: 'weekly', tracked_at },
    })),
    {
      $correlationId: 'tests',
      $causationId: 'tests',
      request_id: 'tests',
      actor: { kind: 'service', id: 'tests' },
      workspace_id,
    },
    `track ${workspace_id}`,
  );
  await stack.projected(position);
  return key;
};

type Summary = { id: string; week: string; changes: object; created_at: string };
const list = async (key: Key): Promise<readonly Summary[]> =>
  (await on(app).get(`/v1/workspaces/${key.workspaceId}/briefs`, { key })).data;

const waitUntilProjected = async (): Promise<void> => stack.projected(await stack.eventStore.head());

describe('prepareDueBriefs', () => {
  test('prepares a brief on Monday at six, once, for each workspace that tracked brands in time', async () => {
    const key = await trackingSince(TRACKED_AT, brands);
    const [idle, late] = await Promise.all([stack.key(), trackingSince('2026-05-11T01:00:00.000Z', brands)]);
    // One second earlier, only the previous week is due.
    expect(await prepareAt('2026-05-11T05:59:59.000Z')).toBe(1);
    expect(await prepareAt('2026-05-11T06:00:00.000Z')).toBe(1);
    expect(await prepareAt('2026-05-11T06:00:01.000Z')).toBe(0);
    await waitUntilProjected();

    const [newest, before, ...more] = await list(key);
    expect(more).toEqual([]);
    expect(newest).toMatchObject({
      week: '2026-W19',
      changes: { ads_started: 4, ads_stopped: 2, destinations_changed: 2 },
      created_at: '2026-05-11T06:00:00.000Z',
    });
    expect(before).toMatchObject({
      week: '2026-W18',
      changes: { ads_started: 0, ads_stopped: 0, destinations_changed: 0 },
    });
    expect(await list(idle)).toEqual([]);
    expect(await list(late)).toEqual([]);

    const { data } = await on(app).get(`/v1/workspaces/${key.workspaceId}/briefs/${newest?.id}`, { key });
    const one = data as { changes_by_brand: object[]; notable_items: { type: string }[] };
    expect(one.changes_by_brand).toHaveLength(2);
    expect(one.changes_by_brand[0]).toMatchObject({
      changes: { ads_started: 2, ads_stopped: 1, destinations_changed: 1 },
    });
    expect(one.notable_items.map(({ type }) => type)).toEqual([
      'destination_changed',
      'destination_changed',
      'ad_stopped',
      'ad_stopped',
      'ad_started',
      'ad_started',
      'ad_started',
      'ad_started',
    ]);
    // A notable item equals the radar's item, including its links.
    const then = await stack.api({ clock: { now: () => new Date('2026-05-11T07:00:00.000Z') } });
    const radar = await on(then).get(`/v1/workspaces/${key.workspaceId}/radar?days=7&limit=100`, { key });
    const items = radar.data as { id: string }[];
    for (const notable of one.notable_items) expect(items).toContainEqual(notable);
    expect(JSON.stringify(one)).toContain(`"${BASE_URL}/v1/ads/`);
  });

  test('prepares each brief once when two workers run at the same time', async () => {
    const keys = [await trackingSince(TRACKED_AT, brands), await trackingSince(TRACKED_AT, brands)];
    const now = '2026-05-11T06:00:00.000Z';
    const prepared = await Promise.all([prepareAt(now), prepareAt(now)]);
    expect(prepared.reduce((sum, one) => sum + one, 0)).toBe(4);
    await waitUntilProjected();
    for (const key of keys) {
      expect((await list(key)).map(({ week }) => week)).toEqual(['2026-W19', '2026-W18']);
    }
  });

  test('catches up after downtime, for at most the last four weeks', async () => {
    const key = await trackingSince('2026-01-01T00:00:00.000Z', brands);
    await prepareAt('2026-05-27T09:00:00.000Z');
    await waitUntilProjected();
    expect((await list(key)).map(({ week }) => week)).toEqual([
      '2026-W21',
      '2026-W20',
      '2026-W19',
      '2026-W18',
    ]);
  });

  test('waits for read models that lag behind, unless the worker stops', async () => {
    const key = await trackingSince(TRACKED_AT, brands);
    const at = { now: () => new Date('2026-05-11T06:00:00.000Z') };
    let waits = 0;
    const wait = async (): Promise<boolean> => {
      waits += 1;
      return waits === 3;
    };
    const behind = { ...dependencies, clock: at, projectionWait: { ...dependencies.projectionWait, wait } };
    const ending = new AbortController();
    ending.abort();
    expect(await prepareDueBriefs(behind, ending.signal)).toBe(0);
    expect(waits).toBe(0);
    expect(await prepareDueBriefs(behind, signal)).toBeGreaterThan(0);
    expect(waits).toBe(3);
    await waitUntilProjected();
    expect(await list(key)).toHaveLength(2);
  });
});
