import { mkdir, mkdtemp, rm, chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { Observation } from '#contracts/observations/index.ts';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { publishObservations } from '#deploy/local/demo/publish-observations.ts';
import { startNats } from '#deploy/local/nats/start.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { startPostgres } from '#deploy/local/postgres/start.ts';
import { pause } from '#platform/clock.ts';
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
import { checksums, POSITION_COLUMNS, untilPassed } from '../stack/read-models.ts';
import { STACK_FOLDER_PREFIX, stackRoot } from '../stack/stale-databases.ts';
import { choices } from './seeded-faults.ts';

/**
 * The read models must equal those of an undisturbed run. KILL_TEST_ADS=200000, KILL_TEST_DAYS=20 and
 * KILL_TEST_ROUNDS=10 run the full exercise.
 */
const { KILL_TEST_ADS, KILL_TEST_DAYS, KILL_TEST_ROUNDS, KILL_TEST_SEED } = readSettings(
  z.object({
    KILL_TEST_ADS: z.coerce.number().int().default(200),
    KILL_TEST_DAYS: z.coerce.number().int().default(8),
    KILL_TEST_ROUNDS: z.coerce.number().int().default(5),
    KILL_TEST_SEED: z.coerce.number().int().default(7),
  }),
);
const BRANDS = Math.max(6, Math.round(KILL_TEST_ADS / 200));
const LIMIT_MS = 240_000 + KILL_TEST_ADS * 20;
/** Longest delay of a kill. Ingest takes longer for a part, so the kill meets it. */
const RUNNING_MS = 200 + KILL_TEST_ADS / 40;

const corpus = () =>
  demoObservations({
    seed: KILL_TEST_SEED,
    brands: BRANDS,
    ads: KILL_TEST_ADS,
    days: KILL_TEST_DAYS,
    until: '2026-10-01',
  });

const firstOf = function* (count: number): Generator<Observation> {
  let yielded = 0;
  for (const observation of corpus()) {
    if (yielded === count) return;
    yielded += 1;
    yield observation;
  }
};

/** Ends of the parts: one for each kill, and one after them. An ad takes a quarter of an observation's time. */
const partEnds = (): readonly number[] => {
  const weights: number[] = [];
  let weight = 0;
  for (const observation of corpus()) {
    weight += 1 + (observation.type === 'ad_library.scan' ? observation.ads.length / 4 : 0);
    weights.push(weight);
  }
  const ends = Array.from({ length: KILL_TEST_ROUNDS }, (_, round) =>
    weights.findIndex((upTo) => upTo >= (weight * (round + 1)) / (KILL_TEST_ROUNDS + 1)),
  );
  return [...ends, weights.length];
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(await stackRoot(), `${STACK_FOLDER_PREFIX}${process.pid}-`));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Checksums of complete read models. No event may be parked. */
const readModels = async (database: Database, head: bigint): Promise<Readonly<Record<string, string>>> => {
  await untilPassed(database, head, LIMIT_MS);
  const parked = await database.query('select * from projector.parked');
  expect(parked.rows).toEqual([]);
  return await checksums(database, projections, POSITION_COLUMNS);
};

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

/** Starts servers and processes, each of which can be killed and restarted. */
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

  /** Throws for a process that has ended, also while the servers are down. */
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
    /** Kills servers first, as a power cut does. */
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

type Stack = Awaited<ReturnType<typeof openStack>>;

/** Publishes observations up to a number, and waits until they are recorded. */
const createFeed = (stack: Stack, nats: Awaited<ReturnType<typeof openNats>>, signal: AbortSignal) => {
  let from = 0;
  return async (end: number, onPublished: () => void): Promise<void> => {
    const deadline = Date.now() + LIMIT_MS;
    for (;;) {
      try {
        stack.assertAllRun();
        await publishObservations(nats, firstOf(end), from, signal, ({ published, taken }) => {
          from = taken;
          if (published === end) onPublished();
        });
        from = end;
        return;
      } catch (error) {
        // The queue was down for a while. An observation published twice is recorded once.
        if (signal.aborted || Date.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  };
};

/**
 * Kills a random time after each publication but the last. Returns how many kills came before their part was recorded.
 */
const runDisturbed = async (
  below: (limit: number) => number,
  kill: (stack: Stack, round: number) => Promise<void>,
) => {
  const stack = await openStack('disturbed');
  try {
    const nats = await openNats(stack.natsUrl(), 'test feed');
    const abandon = new AbortController();
    const watch = setInterval(() => {
      try {
        stack.assertAllRun();
      } catch (error) {
        abandon.abort(error);
      }
    }, 1_000);
    let underLoad = 0;
    try {
      const feed = createFeed(stack, nats, abandon.signal);
      for (const [round, end] of partEnds().entries()) {
        const published = Promise.withResolvers<void>();
        let isOver = false;
        const fed = feed(end, published.resolve).finally(() => {
          isOver = true;
        });
        fed.catch(() => undefined);
        if (round < KILL_TEST_ROUNDS) {
          await Promise.race([published.promise, fed]);
          await pause(below(RUNNING_MS));
          if (!isOver) underLoad += 1;
          await kill(stack, round);
        }
        await fed;
      }
    } finally {
      clearInterval(watch);
    }
    await nats[Symbol.asyncDispose]();
    const eventStore = openEventStore(stack.eventStoreUrl);
    const database = openPool(stack.databaseUrl(), 2);
    try {
      return { underLoad, sums: await readModels(database, await eventStore.head()) };
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
    const { underLoad, sums } = await runDisturbed(below, async (stack, round) => {
      // Each kind of kill once, then random ones.
      const kinds = [...stack.processes, 'everything'];
      const name = kinds[round] ?? kinds[below(kinds.length)] ?? 'everything';
      killed.push(name);
      if (name === 'everything') await stack.killAll();
      else await stack.restart(name);
    });
    expect(underLoad, 'kills before their part of the load was recorded').toBeGreaterThan(
      KILL_TEST_ROUNDS / 2,
    );
    expect(sums, `after killing ${killed.join()}`).toEqual(undisturbed);
    expect(Object.values(undisturbed).filter((sum) => !sum.startsWith('0:')).length).toBeGreaterThan(10);
  },
  LIMIT_MS * 2,
);
