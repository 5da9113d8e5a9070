import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createClient } from '#contracts/client/client.ts';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { publishObservations } from '#deploy/local/demo/publish-observations.ts';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { openNats } from '#platform/nats/connection.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { createWorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { projections } from '#projections/index.ts';
import { addPerson, createWorkspaceNamed, issueKey } from '#services/ops/workspaces.ts';
import { runProjections } from '#services/projector/run.ts';
import { createTestDatabase } from '../stack/database.ts';
import { KILLABLE, type KillableServers, startKillableServers } from '../stack/killable-servers.ts';
import { checksums, untilPassed } from '../stack/read-models.ts';
import { PROCESS_NAMES, type RunningService, startService } from '../stack/service.ts';
import { until } from '../stack/wait-until.ts';

/**
 * All processes start before any server, then each server restarts under load. RESTARTS_ADS=100000 and
 * RESTARTS_ROUNDS=10 run the full exercise.
 */
const { RESTARTS_ADS, RESTARTS_ROUNDS, RESTARTS_DOWN_MS } = readSettings(
  z.object({
    RESTARTS_ADS: z.coerce.number().int().default(500),
    RESTARTS_ROUNDS: z.coerce.number().int().default(1),
    RESTARTS_DOWN_MS: z.coerce.number().int().default(500),
  }),
);
const BRANDS = Math.max(6, Math.round(RESTARTS_ADS / 100));
const LIMIT_MS = 160_000 + RESTARTS_ADS * 20 + RESTARTS_ROUNDS * 60_000;
const LOAD_MS = 800 + RESTARTS_ADS / 50;
const BACK_MS = 90_000;
const FEED_MS = 90_000 + RESTARTS_ADS * 10;
/** Interval within the rate limit of an API key. */
const WRITE_EVERY_MS = 80;

let servers: KillableServers;
let service: RunningService;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  servers = resources.use(await startKillableServers('restarts'));
  for (const which of KILLABLE) await servers.kill(which);
  service = resources.use(await startService(servers.urls));
});
afterAll(() => resources.disposeAsync());

type Writer = {
  readonly written: ReadonlySet<string>;
  write(): Promise<boolean>;
  read(): Promise<ReadonlySet<string>>;
};

/** Customer that writes notes and keeps the acknowledged ones. */
const openWriter = async (): Promise<Writer> => {
  await using opened = new AsyncDisposableStack();
  const pool = openPool(servers.urls.DATABASE_URL, 2);
  opened.defer(() => pool.end());
  await createAccessTables(pool);
  const eventStore = opened.use(openEventStore(servers.urls.EVENT_STORE_URL));
  const operator = {
    pool,
    eventStore,
    db: opened.use(openReadDatabase(servers.urls.DATABASE_URL)),
    workspaceCommands: createWorkspaceCommands({
      eventStore,
      pool,
      projectionWait: opened.use(openProjectionWait(servers.urls.DATABASE_URL, pool, silentLog())),
    }),
    actor: { kind: 'service', id: 'tests' },
  } as const;
  const { workspace_id } = await createWorkspaceNamed(operator, 'Restarts', 'enterprise');
  const { member_id } = await addPerson(
    { ...operator, memberVault: null },
    workspace_id,
    { name: 'Ada', email: null },
    'owner',
  );
  const { api_key } = await issueKey(operator, workspace_id, member_id, 'tests', 'all');
  const client = createClient({ baseUrl: service.apiUrl, apiKey: api_key, retries: 0 });
  const path = { ws: workspace_id };
  const written = new Set<string>();
  let number = 0;
  return {
    written,
    write: async () => {
      number += 1;
      const body = `note ${number}`;
      const note = { subject_type: 'ad' as const, subject_key: String(100_000_000_000_000 + number), body };
      const reply = await client
        .POST('/v1/workspaces/{ws}/notes', { params: { path }, body: note })
        .catch(() => null);
      if (reply?.response.status === 201) written.add(body);
      return reply?.response.status === 201;
    },
    read: async () => {
      const found = new Set<string>();
      const params = { path, query: { limit: 100 } };
      for await (const { body } of client.items('/v1/workspaces/{ws}/notes', { params })) found.add(body);
      return found;
    },
  };
};

describe('servers that are down at the start', () => {
  test('are awaited and named by every process, which logs its settings without secrets', async () => {
    for (const [name, one] of service.processes) {
      await one.says('"starting"');
      if (name === 'ops') await one.says('listening');
      else await one.says('waiting for a server');
    }
    service.assertAllRun();
    const said = service.processes.get('ingest')?.output() ?? '';
    expect(said).toContain('"waiting_for":"Postgres, the event store, NATS"');
    expect(said).toContain('"DATABASE_URL":"postgres://[hidden]@127.0.0.1');
    expect(service.output()).not.toContain(new URL(servers.urls.DATABASE_URL).password);
  });

  test('do not keep a process from exiting on SIGTERM', async () => {
    await using waiting = await startService(servers.urls, {}, ['worker']);
    const worker = waiting.processes.get('worker');
    await worker?.says('waiting for a server');
    expect(await worker?.stop()).toBe(0);
  });

  test('let every process start its work once they are up', { timeout: LIMIT_MS }, async () => {
    for (const which of KILLABLE) await servers.start(which);
    await service.ready();
    service.assertAllRun();
  });
});

test('every process survives the restart of each server under load', { timeout: LIMIT_MS }, async () => {
  const writer = await openWriter();
  const done = new AbortController();
  const writing = (async () => {
    while (!done.signal.aborted) {
      await writer.write();
      await pause(WRITE_EVERY_MS);
    }
  })();
  const observations = [
    ...demoObservations({ seed: 3, brands: BRANDS, ads: RESTARTS_ADS, days: 6, until: '2026-10-01' }),
  ];
  const feed = async (): Promise<void> => {
    for (let from = 0; ; ) {
      await using nats = await openNats(servers.urls.NATS_URL, 'test feed').catch(() => null);
      try {
        if (nats === null) throw new Error('no NATS');
        await publishObservations(nats, observations, from, done.signal, ({ taken }) => {
          from = taken;
        });
        return;
      } catch (error) {
        if (done.signal.aborted) throw error;
        await pause(200);
      }
    }
  };
  const feeding = feed();
  feeding.catch(() => undefined);

  for (let round = 0; round < RESTARTS_ROUNDS; round += 1) {
    for (const which of KILLABLE) {
      await pause(LOAD_MS);
      await servers.kill(which);
      await pause(RESTARTS_DOWN_MS);
      await servers.start(which);
      const before = writer.written.size;
      const goesOn = (): boolean => writer.written.size > before + 3;
      await until(`writes go on after the restart of ${which}`, BACK_MS, goesOn).catch((error: unknown) => {
        throw new Error(service.processes.get('api')?.output().slice(-4_000), { cause: error });
      });
      service.assertAllRun();
    }
  }
  await Promise.race([
    feeding,
    pause(FEED_MS).then(() => {
      throw new Error(`the load is not taken in: ${service.processes.get('ingest')?.output().slice(-4_000)}`);
    }),
  ]);
  done.abort();
  await writing;
  service.assertAllRun();

  const database = openPool(servers.urls.DATABASE_URL, 2);
  const eventStore = openEventStore(servers.urls.EVENT_STORE_URL);
  const replayed = await createTestDatabase();
  const ending = new AbortController();
  const replaying = runProjections({
    databaseUrl: replayed.url,
    eventStoreUrl: servers.urls.EVENT_STORE_URL,
    projections,
    log: silentLog(),
    signal: ending.signal,
  });
  const fresh = openPool(replayed.url, 2);
  try {
    const head = await eventStore.head();
    await untilPassed(database, head, LIMIT_MS);
    const found = await writer.read();
    expect([...writer.written].filter((body) => !found.has(body))).toEqual([]);
    expect(writer.written.size).toBeGreaterThan(20);
    expect((await database.query('select * from projector.parked')).rows).toEqual([]);
    await untilPassed(fresh, head, LIMIT_MS);
    expect(await checksums(database, projections)).toEqual(await checksums(fresh, projections));
    const fed = observations.flatMap((one) => (one.type === 'ad_library.scan' ? one.ads : []));
    const { rows } = await database.query<{ ad_id: string }>('select ad_id from ads.ad');
    expect(new Set(rows.map(({ ad_id }) => ad_id))).toEqual(new Set(fed.map(({ ad_id }) => ad_id)));
  } finally {
    ending.abort();
    await replaying;
    await Promise.all([database.end(), fresh.end(), eventStore[Symbol.asyncDispose]()]);
    await replayed.drop();
  }
});

test('every process exits in order on SIGTERM', { timeout: LIMIT_MS }, async () => {
  const codes = await Promise.all([...service.processes.values()].map((one) => one.stop()));
  expect(Object.fromEntries(PROCESS_NAMES.map((name, index) => [name, codes[index]]))).toEqual(
    Object.fromEntries(PROCESS_NAMES.map((name) => [name, 0])),
  );
  expect(service.output()).not.toContain('shutdown deadline passed');
});
