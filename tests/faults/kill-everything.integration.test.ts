import { mkdir, mkdtemp, rm, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { publishObservations } from '#deploy/local/demo/publish-observations.ts';
import { startNats } from '#deploy/local/nats/start.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { startPostgres } from '#deploy/local/postgres/start.ts';
import { readSettings } from '#platform/settings.ts';
import { openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { openNats } from '#platform/nats/connection.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { projections } from '#projections/index.ts';
import { runProjections } from '#services/projector/run.ts';
import { openIntakeStack } from '../ingest/fixtures/intake-stack.ts';
import { killOn } from '../stack/killable-servers.ts';
import { startProcess, type ServiceProcess } from '../stack/processes.ts';
import { checksums, untilPassed } from '../stack/read-models.ts';
import { choices } from './seeded-faults.ts';

/**
 * Kills processes, servers and everything at once with SIGKILL while observations are ingested. The read models
 * must equal those of an undisturbed run, for which intake and projections run in the test process. KILL_TEST_ADS=200000 and KILL_TEST_ROUNDS=10 run the full exercise.
 */
const { KILL_TEST_ADS, KILL_TEST_ROUNDS, KILL_TEST_SEED } = readSettings(
  z.object({
    KILL_TEST_ADS: z.coerce.number().int().default(2_000),
    KILL_TEST_ROUNDS: z.coerce.number().int().default(5),
    KILL_TEST_SEED: z.coerce.number().int().default(7),
  }),
);
const BRANDS = Math.max(10, Math.round(KILL_TEST_ADS / 200));
const LIMIT_MS = 240_000 + KILL_TEST_ADS * 20;
const RUNNING_MS = 600 + KILL_TEST_ADS / 40;

const corpus = () =>
  demoObservations({
    seed: KILL_TEST_SEED,
    brands: BRANDS,
    ads: KILL_TEST_ADS,
    days: 20,
    until: '2026-10-01',
  });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kill-everything-'));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Waits until the read models are complete, and returns their checksums. No event may be parked. */
const readModels = async (database: Database, head: bigint): Promise<Readonly<Record<string, string>>> => {
  await untilPassed(database, head, LIMIT_MS);
  const parked = await database.query('select * from projector.parked');
  expect(parked.rows).toEqual([]);
  return await checksums(database, projections, ['position']);
};

/** Returns the checksums of the read models when nothing fails. */
const runUndisturbed = async (): Promise<Readonly<Record<string, string>>> => {
  await using stack = await openIntakeStack();
  for (const observation of corpus()) await stack.intake.submit(observation);
  const { databaseUrl, eventStoreUrl } = stack;
  const ending = new AbortController();
  const database = openPool(databaseUrl, 2);
  const projecting = runProjections({
    databaseUrl,
    eventStoreUrl,
    projections,
    log: silentLog(),
    signal: ending.signal,
  });
  try {
    return await readModels(database, await stack.eventStore.head());
  } finally {
    ending.abort();
    await projecting;
    await database.end();
  }
};

/** Starts the whole stack in a folder. Each part can be killed and restarted. */
const openStack = async (name: string) => {
  const home = join(folder, name);
  await mkdir(home, { recursive: true, mode: 0o755 });
  let postgres = await startPostgres({ folder: join(home, 'postgres'), port: 0 });
  await postgres.createDatabase('event_store');
  await postgres.createDatabase('ad_intelligence');
  let nats = await startNats({ folder: join(home, 'nats'), port: 0 });
  const eventStorePort = await freePort();
  const eventStoreUrl = `esdb://127.0.0.1:${eventStorePort}?tls=false`;
  const running = new Map<string, ServiceProcess>();
  const databaseUrl = (): string => postgres.databaseUrl('ad_intelligence');

  const mains: Readonly<Record<string, () => ServiceProcess>> = {
    eventStore: () =>
      startProcess('deploy/local/event-store/main.ts', {
        EVENT_STORE_PORT: String(eventStorePort),
        EVENT_STORE_DATABASE_URL: postgres.databaseUrl('event_store'),
      }),
    ingest: () =>
      startProcess('services/ingest/main.ts', {
        DATABASE_URL: databaseUrl(),
        EVENT_STORE_URL: eventStoreUrl,
        NATS_URL: nats.url,
        // A single ingest queue keeps the order across brands too, which matters for pages that brands share.
        INGEST_LANES: '1',
      }),
    projector: () =>
      startProcess('services/projector/main.ts', {
        DATABASE_URL: databaseUrl(),
        EVENT_STORE_URL: eventStoreUrl,
      }),
    api: () =>
      startProcess('services/api/main.ts', {
        DATABASE_URL: databaseUrl(),
        EVENT_STORE_URL: eventStoreUrl,
        NATS_URL: nats.url,
        API_PORT: '0',
        CURSOR_SECRET: 'a secret of this test only',
      }),
  };
  const start = (which: string): void => {
    const main = mains[which];
    if (main) running.set(which, main());
  };
  for (const which of Object.keys(mains)) start(which);

  /** Throws when a process has exited by itself, even if its servers are down. */
  const assertAllRun = (): void => {
    for (const [which, one] of running) {
      if (one.child.exitCode === null) continue;
      throw new Error(`${which} exited by itself:\n${one.output().slice(-3_000)}`);
    }
  };

  return {
    assertAllRun,
    databaseUrl,
    eventStoreUrl,
    natsUrl: () => nats.url,
    processes: Object.keys(mains),
    restart: async (which: string) => {
      await running.get(which)?.kill();
      start(which);
    },
    /** Kills everything at once, servers first, then restarts all of it, as after a power cut. */
    killAll: async () => {
      await Promise.all([...running.values()].map((one) => one.kill()));
      await killOn(home);
      const [postgresPort, natsPort] = [postgres.port, nats.port];
      postgres = await startPostgres({ folder: join(home, 'postgres'), port: postgresPort });
      nats = await startNats({ folder: join(home, 'nats'), port: natsPort });
      for (const which of Object.keys(mains)) start(which);
    },
    stop: async () => {
      await Promise.all([...running.values()].map((one) => one.stop()));
      await nats.stop();
      await postgres.stop();
    },
  };
};

/** Feeds the stack while `disturb` runs, and returns the checksums of the read models at the end. */
const runDisturbed = async (
  disturb: (stack: Awaited<ReturnType<typeof openStack>>, done: () => boolean) => Promise<void>,
) => {
  const stack = await openStack('disturbed');
  try {
    const nats = await openNats(stack.natsUrl(), 'test feed');
    let fed = false;
    const deadline = Date.now() + LIMIT_MS;
    const abandon = new AbortController();
    const feeding = (async () => {
      for (let from = 0; ; ) {
        try {
          stack.assertAllRun();
          await publishObservations(nats, corpus(), from, abandon.signal, ({ taken }) => {
            from = taken;
          });
          return;
        } catch (error) {
          // The queue was down for a while. An observation published twice is recorded once.
          if (abandon.signal.aborted || Date.now() > deadline) throw error;
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
      }
    })().finally(() => {
      fed = true;
    });
    const watch = setInterval(() => {
      try {
        stack.assertAllRun();
      } catch (error) {
        abandon.abort(error);
      }
    }, 1_000);
    try {
      await disturb(stack, () => fed);
      await feeding;
    } finally {
      clearInterval(watch);
    }
    await nats[Symbol.asyncDispose]();
    const eventStore = openEventStore(stack.eventStoreUrl);
    const database = openPool(stack.databaseUrl(), 2);
    try {
      return await readModels(database, await eventStore.head());
    } finally {
      await database.end();
      await eventStore[Symbol.asyncDispose]();
    }
  } finally {
    await stack.stop();
  }
};

it(
  `gives the same read models after ${KILL_TEST_ROUNDS} kills during a load of ${KILL_TEST_ADS} ads`,
  async () => {
    const undisturbed = await runUndisturbed();
    const below = choices(KILL_TEST_SEED);
    const killed: string[] = [];
    const disturbed = await runDisturbed(async (stack, done) => {
      for (let round = 0; round < KILL_TEST_ROUNDS && !done(); round += 1) {
        await new Promise((resolve) => setTimeout(resolve, 300 + below(RUNNING_MS)));
        const which = below(stack.processes.length + 1);
        const name = stack.processes[which];
        killed.push(name ?? 'everything');
        if (name === undefined) await stack.killAll();
        else await stack.restart(name);
      }
    });
    expect(killed.length, 'kills while the load went on').toBeGreaterThan(KILL_TEST_ROUNDS / 2);
    expect(disturbed, `after killing ${killed.join()}`).toEqual(undisturbed);
    expect(Object.values(undisturbed).filter((sum) => !sum.startsWith('0:')).length).toBeGreaterThan(10);
  },
  LIMIT_MS * 2,
);
