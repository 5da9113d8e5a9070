import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { pause } from '#platform/clock.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { readSettings } from '#platform/settings.ts';
import { requestVerification, watchVerification } from '#services/ops/projections.ts';
import {
  type ReplicatedPostgres,
  startReplicatedPostgres,
} from '../../application/reads/replicated-postgres.ts';
import { type Counted, METADATA } from '../../projector/counting-projection.ts';
import { createTestDatabase, createTestEventStore } from '../../stack/database.ts';
import { type ServiceProcess, startProcess } from '../../stack/processes.ts';
import { untilPassed } from '../../stack/read-models.ts';
import { judge } from '../../trials/judge.ts';
import { type FaultProxy, proxied } from '../fault-proxy.ts';
import { choices } from '../seeded-faults.ts';
import { COUNTERS } from './counters.ts';

/**
 * The owner is stopped, killed or cut off while events arrive. The test ends most leases itself. Half way through the
 * long form Postgres fails over to its standby.
 */

const { TAKEOVERS, TAKEOVERS_SEED } = readSettings(
  z.object({
    TAKEOVERS: z.coerce.number().int().min(1).default(3),
    TAKEOVERS_SEED: z.coerce.number().int().default(17),
  }),
);
/** Takeovers among which one waits for the clock: each kind of fault in turn. */
const BY_CLOCK_EVERY = 11;
const isLong = TAKEOVERS >= BY_CLOCK_EVERY;
const FAULTS = ['stopped', 'killed', 'cut', 'killed', 'stopped', 'killed'] as const;
/** After this a projector that was cut off in a statement knows it. */
const CUT_OFF_MS = 25_000;
/** Unapplied events above which none are appended, so that takeovers meet batches of all sizes. */
const BACKLOG_MAX = 50_000;
const BY_CLOCK_MAX_MS = 20_000;
/** Limit of a takeover on a busy machine. */
const TAKEOVER_LIMIT_MS = 120_000;
/** Limit of a verification, which reads all events again, millions in the long form. */
const VERIFICATION_LIMIT_MS = isLong ? 600_000 : 60_000;
const STREAMS = 8;
const DATABASE = 'takeovers';
/** Largest append: small and large batches are applied in different ways. */
const APPEND_MAX = 400;
const MAIN = fileURLToPath(new URL('./counting-projector.ts', import.meta.url));

type Projector = { process: ServiceProcess; readonly proxy: FaultProxy; readonly url: string };

const resources = new AsyncDisposableStack();
let database: Database;
let eventStore: EventStore;
let storeUrl: string;
let ownProxy: FaultProxy;
let replicated: ReplicatedPostgres | null = null;
const projectors: Projector[] = [];

/** Creates the database; in the long form with a standby. */
const createDatabase = async (): Promise<string> => {
  if (!isLong) {
    const created = await createTestDatabase();
    resources.defer(() => created.drop());
    return created.url;
  }
  replicated = resources.use(await startReplicatedPostgres());
  await replicated.primary.createDatabase(DATABASE);
  await replicated.commitOnBoth();
  return replicated.primary.databaseUrl(DATABASE);
};

/** Kills the primary, and leads all connections to the new one. */
const failOver = async (): Promise<void> => {
  await replicated?.failOver();
  const url = replicated?.standby.databaseUrl(DATABASE) ?? '';
  for (const proxy of [ownProxy, ...projectors.map((one) => one.proxy)]) proxy.leadTo(url);
};

const start = (url: string): ServiceProcess =>
  startProcess(MAIN, { DATABASE_URL: url, EVENT_STORE_URL: storeUrl });

beforeAll(async () => {
  const databaseUrl = await createDatabase();
  const store = await createTestEventStore();
  resources.defer(() => store.stop());
  storeUrl = store.url;
  const own = await proxied(databaseUrl);
  ownProxy = resources.use(own.proxy);
  database = openPool(own.url, 4);
  resources.defer(() => database.end());
  eventStore = resources.use(openEventStore(store.url));
  for (let index = 0; index < 2; index += 1) {
    const { proxy, url } = await proxied(databaseUrl);
    resources.use(proxy);
    const one: Projector = { process: start(url), proxy, url };
    projectors.push(one);
    resources.defer(() => one.process.kill());
  }
}, 120_000);
afterAll(() => resources.disposeAsync(), 60_000);

type Holder = { readonly owner: string; readonly epoch: string };

const holder = async (): Promise<Holder | null> => {
  const { rows } = await database
    .query<Holder>(`select owner, epoch::text from run.lease where kind = 'projections' and until > now()`)
    .catch(() => ({ rows: [] }));
  return rows[0] ?? null;
};

/** Process of the owner, whose name holds the process id. */
const ownerOf = ({ owner }: Holder): Projector | undefined =>
  projectors.find(({ process }) => owner.includes(`:${process.child.pid}:`));

/** The first connections after a failover are those that broke. */
const endLease = async (): Promise<void> => {
  const end = () => database.query(`update run.lease set until = now() where kind = 'projections'`);
  await expect.poll(() => end().then(() => 'ended', String), { timeout: TAKEOVER_LIMIT_MS }).toBe('ended');
};

/** Waits for another epoch than `before`. */
const untilHeld = async (before: string | null): Promise<Holder> => {
  for (const deadline = Date.now() + TAKEOVER_LIMIT_MS; Date.now() < deadline; await pause(50)) {
    const now = await holder();
    if (now && now.epoch !== before && ownerOf(now)) return now;
  }
  throw new Error(`no process took the projections over within ${TAKEOVER_LIMIT_MS} ms`);
};

/** Progress of the projection that is behind all others. */
const progress = async (): Promise<{ readonly position: bigint; readonly applied: number }> => {
  const { rows } = await database
    .query<{ position: string | null; applied: number | null }>(
      'select min(position)::text as position, min(facts_applied)::int as applied from projector.projection',
    )
    .catch(() => ({ rows: [] }));
  return { position: BigInt(rows[0]?.position ?? 0), applied: rows[0]?.applied ?? 0 };
};

const untilMoved = async (): Promise<void> => {
  const { position } = await progress();
  await expect
    .poll(async () => (await progress()).position > position, { timeout: TAKEOVER_LIMIT_MS })
    .toBe(true);
};

test(
  'projectors that are stopped, killed and cut off apply each event once',
  async (context) => {
    const next = choices(TAKEOVERS_SEED);
    const totals = new Map<string, number>();
    const revisions = new Map<string, bigint>();
    let events = 0;
    const append = async (): Promise<void> => {
      const name = `n${next(STREAMS)}`;
      const size = next(2) === 0 ? 1 + next(5) : 1 + next(APPEND_MAX);
      const amounts = Array.from({ length: size }, () => 1 + next(9));
      const facts = amounts.map((by): Counted => ({ type: 'Counted', data: { name, by } }));
      const stream = `counted-${name}`;
      const recorded = await eventStore.append(
        stream,
        revisions.get(name) ?? -1n,
        facts,
        METADATA,
        `append ${events}`,
      );
      revisions.set(name, recorded.revision);
      events += size;
      totals.set(name, (totals.get(name) ?? 0) + amounts.reduce((sum, by) => sum + by, 0));
    };
    const ending = new AbortController();
    const appending = (async () => {
      let { applied } = await progress();
      while (!ending.signal.aborted) {
        if (events - applied > BACKLOG_MAX) ({ applied } = await progress());
        if (events - applied <= BACKLOG_MAX) await append();
        await pause(20, ending.signal);
      }
    })();

    let current = await untilHeld(null);
    let longestByClockMs = 0;
    let cutOffAtMs = Number.NEGATIVE_INFINITY;
    const faults = { stopped: 0, killed: 0, cut: 0, 'failed over': 0 };
    for (let count = 0; count < TAKEOVERS; count += 1) {
      // Some owners lose the lease before their first batch.
      if (next(4) > 0) await untilMoved();
      await pause(next(300));
      const isFailover = isLong && count === Math.floor(TAKEOVERS / 2) + 1;
      const fault = isFailover ? 'failed over' : (FAULTS[count % FAULTS.length] ?? 'stopped');
      const isByClock = isLong && !isFailover && count % BY_CLOCK_EVERY === 0;
      // The other projector must be there to take over.
      if (isByClock) await pause(Math.max(0, cutOffAtMs + CUT_OFF_MS - performance.now()));
      current = await untilHeld(null);
      const owner = ownerOf(current) as Projector;
      const stopped = owner.process;
      if (fault === 'stopped') stopped.child.kill('SIGSTOP');
      else if (fault === 'killed') {
        await stopped.kill();
        owner.process = start(owner.url);
      } else if (fault === 'cut') owner.proxy.halfOpen();
      else await failOver();
      faults[fault] += 1;
      if (fault === 'cut') cutOffAtMs = performance.now();
      const startedMs = performance.now();
      if (!isByClock) await endLease();
      current = await untilHeld(current.epoch);
      if (isByClock) longestByClockMs = Math.max(longestByClockMs, performance.now() - startedMs);
      // Continued while the other projector works, often in the middle of a batch.
      if (fault === 'stopped') {
        await pause(next(500));
        stopped.child.kill('SIGCONT');
      }
    }
    ending.abort();
    await appending;
    const names = COUNTERS.map(({ name }) => name);
    await untilPassed(database, await eventStore.head(), 120_000, names);
    const { rows } = await database.query<{ name: string; facts: number; position: string }>(
      `select name, facts_applied::int as facts, position::text from projector.projection order by name`,
    );
    const played = Object.entries(faults).map(([fault, count]) => `${count} ${fault}`);
    expect(rows.map(({ name }) => name)).toEqual(names.toSorted());
    for (const { name, facts } of rows)
      judge(context, `events applied by ${name} over ${TAKEOVERS} takeovers (${played.join(', ')})`, facts, {
        equals: events,
      });
    const differing: string[] = [];
    for (const name of names) {
      const counted = await database.query<{ name: string; total: string }>(
        `select name, total from ${name}.counter`,
      );
      const wrong = [...totals].filter(
        ([counter, total]) => Number(counted.rows.find((row) => row.name === counter)?.total) !== total,
      );
      judge(context, `wrong totals of ${name}, of ${totals.size}`, wrong.length, { equals: 0 });
      expect(counted.rows).toHaveLength(totals.size);
      await requestVerification(database, name, { to: null, by: 'test' });
      const limit = AbortSignal.timeout(VERIFICATION_LIMIT_MS);
      const verified = await watchVerification(database, name, () => undefined, limit);
      if (verified?.state !== 'passed') differing.push(`${name}: ${JSON.stringify(verified)}`);
    }
    expect(differing).toEqual([]);
    judge(context, 'verifications that were not equal', differing.length, { equals: 0 });
    judge(context, 'longest takeover by the clock', longestByClockMs, {
      atMost: BY_CLOCK_MAX_MS,
      unit: 'ms',
      isJudged: isLong,
    });
  },
  180_000 + TAKEOVERS * 20_000,
);
