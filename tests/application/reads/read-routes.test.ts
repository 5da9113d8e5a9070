import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { withTimeBudget } from '#platform/concurrency/time-budget.ts';
import { DEAD_FOUND_MS } from '#platform/postgres/silence.ts';
import { ReadsBusy } from '#platform/postgres/hot-connections.ts';
import { createReplica, LATE_MS, type PrimaryPosition } from '#application/reads/replica.ts';
import { readDatabaseUrls } from '#application/reads/open-read-databases.ts';
import { createReadRoutes, type ReadRoutes } from '#application/reads/read-routes.ts';
import { runs } from '../../property-seed.ts';

/** A database that shows a position of the log, or fails. */
type Server = { position: number; failure: Error | null; takesMs: number };

const serverAt = (position: number): Server => ({ position, failure: null, takesMs: 0 });

/** `clock`: goes on by the time that each answer takes. */
const databaseOf = (server: Server, clock = { now: 0 }): ReadDatabase => {
  const answer = async <Row>(): Promise<readonly Row[]> => {
    clock.now += server.takesMs;
    if (server.failure) throw server.failure;
    return [{ position: String(server.position) }] as unknown as readonly Row[];
  };
  return { query: answer, slow: answer };
};
const gone = (): Error => Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
const conflict = (): Error => Object.assign(new Error('conflict with recovery'), { code: '40001' });

const create = () => {
  const clock = { now: 1_000 };
  const primary = serverAt(10);
  const standby = serverAt(0);
  const replica = createReplica('replica 1', databaseOf(standby), databaseOf(primary), () => clock.now);
  const positions: PrimaryPosition[] = [];
  const compare = async (): Promise<void> => {
    positions.push({ at: clock.now, position: BigInt(primary.position) });
    await replica.update(positions, 0);
  };
  return { clock, primary, standby, replica, compare };
};
const READ = { sql: 'select 1', values: [] };

const createRoutes = (primary: Server, standby: Server, clock: { now: number }): ReadRoutes =>
  createReadRoutes({
    primary: databaseOf(primary, clock),
    replicas: [databaseOf(standby, clock)],
    projectionWait: { wait: async () => true, [Symbol.asyncDispose]: async () => undefined },
    now: () => clock.now,
    compareMs: null,
  });

test('a replica serves once it has reached what the caller saw', async () => {
  const { clock, primary, standby, replica, compare } = create();
  await compare();
  expect(replica.mayServe(0)).toBe(false);
  standby.position = 10;
  await compare();
  expect(replica.mayServe(clock.now)).toBe(true);
  clock.now += 100;
  const seen = clock.now;
  primary.position = 20;
  clock.now += 100;
  await compare();
  expect(replica.mayServe(seen)).toBe(false);
  expect(replica.mayServe(1_000)).toBe(true);
  standby.position = 20;
  await compare();
  expect(replica.mayServe(seen)).toBe(true);
});

test('a replica is left out while it is late', async () => {
  const { clock, primary, standby, replica, compare } = create();
  standby.position = 10;
  await compare();
  primary.position = 20;
  clock.now += LATE_MS;
  await compare();
  expect(replica.mayServe(0)).toBe(true);
  clock.now += 1;
  expect(replica.mayServe(0)).toBe(false);
});

test.each([
  ['gone', gone()],
  ['in conflict with recovery', conflict()],
])('a read is repeated on the primary when the replica is %s', async (_, failure) => {
  const { clock, standby, replica, compare } = create();
  standby.position = 10;
  await compare();
  standby.failure = failure;
  clock.now += 5;
  expect(await replica.openRoute().db.query(READ)).toEqual([{ position: '10' }]);
  expect(replica.mayServe(0)).toBe(false);
  standby.failure = null;
  clock.now += 5;
  await compare();
  expect(replica.mayServe(0)).toBe(true);
});

describe('a light read goes to the primary when the replica', () => {
  const coded = (code: string): Error => Object.assign(new Error('refused'), { code });
  test.each([
    ['has no free connection for reads', new ReadsBusy()],
    ['has no connection left', coded('53300')],
    ['refuses the login', coded('28P01')],
    ['cancels the statement', coded('57014')],
  ])('%s', async (_, failure) => {
    const { clock, standby, replica, compare } = create();
    standby.position = 10;
    await compare();
    standby.failure = failure;
    const route = replica.openRoute();
    expect(await route.db.query(READ)).toEqual([{ position: '10' }]);
    expect(route.hasReadPrimary()).toBe(true);
    // It says nothing about the state of the replica.
    expect(replica.mayServe(clock.now)).toBe(true);
  });

  test('has a slow statement that is not slow at the primary, which it measures again later', async () => {
    const clock = { now: 0 };
    const asked: string[] = [];
    const speeds = { replica: 'slow', primary: 'unknown' } as Record<string, 'slow' | 'unknown'>;
    const databaseNamed = (name: string): ReadDatabase => ({
      query: async () => {
        asked.push(name);
        return [];
      },
      slow: async () => [],
      speedOf: () => speeds[name] ?? 'fast',
      forgetSpeed: () => {
        speeds[name] = 'unknown';
      },
    });
    const replica = createReplica(
      'replica 1',
      databaseNamed('replica'),
      databaseNamed('primary'),
      () => clock.now,
    );
    const read = async () => {
      const { db } = replica.openRoute();
      expect(db.speedOf?.(READ.sql)).toBe('unknown');
      await db.query(READ);
    };
    await read();
    clock.now += 10_000;
    await read();
    expect(asked).toEqual(['primary', 'replica']);
    // Slow on both, it stays here.
    [speeds['replica'], speeds['primary']] = ['slow', 'slow'];
    expect(replica.openRoute().db.speedOf?.(READ.sql)).toBe('slow');
  });
});

test('a search that the replica cancels is not repeated', async () => {
  const { standby, replica } = create();
  standby.failure = Object.assign(new Error('canceled'), { code: '57014' });
  await expect(replica.openRoute().db.slow(READ)).rejects.toBe(standby.failure);
});

describe('after a loss of the replica', () => {
  /** Returns the positions that a light read and a search show: 10 at the replica, 20 at the primary. */
  const afterLoss = async (failure: Error, laterMs: number) => {
    const { clock, standby, primary, replica, compare } = create();
    standby.position = 10;
    await compare();
    standby.failure = failure;
    clock.now += 5;
    await replica.openRoute().db.query(READ);
    standby.failure = null;
    clock.now += laterMs;
    await compare();
    expect(replica.mayServe(0)).toBe(true);
    primary.position = 20;
    const positionOf = async (kind: 'query' | 'slow'): Promise<number> => {
      const [row] = await replica.openRoute().db[kind]<{ position: string }>(READ);
      return Number(row?.position);
    };
    return { light: await positionOf('query'), search: await positionOf('slow') };
  };

  test('searches go to the primary until its dead connections are found', async () => {
    expect(await afterLoss(gone(), 5)).toEqual({ light: 10, search: 20 });
    expect(await afterLoss(gone(), DEAD_FOUND_MS - 1)).toEqual({ light: 10, search: 20 });
    expect(await afterLoss(gone(), DEAD_FOUND_MS)).toEqual({ light: 10, search: 10 });
  });

  test('searches go to it when its recovery has cancelled a read: its connections live', async () => {
    expect(await afterLoss(conflict(), 5)).toEqual({ light: 10, search: 10 });
  });
});

/** A replica that never answers, and a primary that does, with the number of reads that each got. */
const createMute = () => {
  const asked = { replica: 0, primary: 0 };
  const never = (): Promise<never> => {
    asked.replica += 1;
    return new Promise(() => undefined);
  };
  const answer = async () => {
    asked.primary += 1;
    return [];
  };
  const replica = createReplica(
    'replica 1',
    { query: never, slow: never },
    { query: answer, slow: answer },
    () => performance.now(),
  );
  return { asked, replica };
};

test('a mute replica leaves time for the primary, which then answers all reads of the request', async () => {
  const { asked, replica } = createMute();
  const { db } = replica.openRoute();
  await withTimeBudget(2_000, async () => {
    for (let read = 0; read < 3; read += 1) expect(await db.query(READ)).toEqual([]);
  });
  expect(asked).toEqual({ replica: 1, primary: 3 });
});

test('a request goes on at the primary when another one has found the replica lost', async () => {
  const { standby, primary, replica, compare } = create();
  standby.position = 10;
  await compare();
  const [one, other] = [replica.openRoute(), replica.openRoute()];
  standby.failure = gone();
  await one.db.query(READ);
  standby.failure = null;
  primary.position = 11;
  expect(await other.db.query(READ)).toEqual([{ position: '11' }]);
  expect(other.hasReadPrimary()).toBe(true);
});

test('a caller whose read ended at the primary reads there until the replica shows as much', async () => {
  const clock = { now: 1_000 };
  const primary = serverAt(10);
  const standby = serverAt(10);
  await using routes = createRoutes(primary, standby, clock);
  await routes.compare();
  standby.failure = new ReadsBusy();
  const route = routes.routeOf('caller');
  primary.position = 20;
  clock.now += 10;
  await route.db.query(READ);
  routes.saw('caller', route);
  standby.failure = null;
  expect(routes.routeOf('caller').name).toBe('primary');
  expect(routes.routeOf('other').name).toBe('replica 1');
  standby.position = 20;
  clock.now += 10;
  await routes.compare();
  expect(routes.routeOf('caller').name).toBe('replica 1');
});

describe('a replica that takes long to answer', () => {
  const openPaced = () => {
    const clock = { now: 1_000 };
    const primary = serverAt(10);
    const standby = serverAt(10);
    const routes = createRoutes(primary, standby, clock);
    const compareOften = async (): Promise<void> => {
      for (let time = 0; time < 5; time += 1) await routes.compare();
    };
    return { primary, standby, routes, compareOften };
  };

  test('is left out until it is fast again', async () => {
    const { standby, routes, compareOften } = openPaced();
    await compareOften();
    expect(routes.routeOf('caller').name).toBe('replica 1');
    standby.takesMs = 60;
    await compareOften();
    expect(routes.routeOf('caller').name).toBe('primary');
    standby.takesMs = 40;
    await compareOften();
    expect(routes.routeOf('caller').name).toBe('primary');
    standby.takesMs = 20;
    await compareOften();
    expect(routes.routeOf('caller').name).toBe('replica 1');
  });

  test('serves when the primary takes as long', async () => {
    const { primary, standby, routes, compareOften } = openPaced();
    standby.takesMs = 200;
    primary.takesMs = 200;
    await compareOften();
    expect(routes.routeOf('caller').name).toBe('replica 1');
  });

  test('serves when only one answer in five takes long', async () => {
    const { standby, routes, compareOften } = openPaced();
    await compareOften();
    standby.takesMs = 900;
    await routes.compare();
    expect(routes.routeOf('caller').name).toBe('replica 1');
  });
});

test('reads that wait for a position at one replica share its looks', async () => {
  const answers: PromiseWithResolvers<readonly never[]>[] = [];
  const replica: ReadDatabase = {
    query: async (statement) => {
      if (!statement.sql.includes('projector.projection')) return [{ position: '10' }] as never[];
      const answer = Promise.withResolvers<readonly never[]>();
      answers.push(answer);
      return answer.promise;
    },
    slow: async () => [],
  };
  await using routes = createReadRoutes({
    primary: databaseOf(serverAt(10)),
    replicas: [replica],
    projectionWait: {
      wait: () => Promise.reject(new Error('waits at the primary')),
      [Symbol.asyncDispose]: async () => undefined,
    },
    compareMs: null,
  });
  await routes.compare();
  const waits = Array.from({ length: 50 }, (_, caller) => routes.waitFor(`caller ${caller}`, ['ads'], 7n));
  await Promise.resolve();
  expect(answers).toHaveLength(1);
  answers[0]?.resolve([{ name: 'ads', position: '7' } as never]);
  await Promise.all(waits);
  expect(answers).toHaveLength(1);
});

test('a statement at fault is not repeated', async () => {
  const { standby, replica } = create();
  standby.failure = Object.assign(new Error('division by zero'), { code: '22012' });
  await expect(replica.openRoute().db.query(READ)).rejects.toThrow('division by zero');
});

test('a replica that came back at an earlier state has to catch up again', async () => {
  const { clock, standby, replica, compare } = create();
  standby.position = 10;
  await compare();
  standby.position = 9;
  clock.now += 10;
  await compare();
  expect(replica.mayServe(0)).toBe(false);
});

test('a caller never reads an earlier state than before, for any history of the replica', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('write' as const) }),
    fc.record({ do: fc.constant('replay' as const), by: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ do: fc.constant('read' as const), write: fc.boolean() }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4_000 }) }),
    fc.record({ do: fc.constant('fail' as const) }),
    fc.record({ do: fc.constant('heal' as const), back: fc.integer({ min: 0, max: 2 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = { now: 1_000 };
      const primary = serverAt(5);
      const standby = serverAt(5);
      await using routes = createRoutes(primary, standby, clock);
      let seen = 0;
      for (const one of steps) {
        clock.now += 1;
        if (one.do === 'write') primary.position += 1;
        if (one.do === 'replay') standby.position = Math.min(primary.position, standby.position + one.by);
        if (one.do === 'wait') clock.now += one.ms;
        if (one.do === 'fail') standby.failure = gone();
        if (one.do === 'heal' && standby.failure) {
          standby.failure = null;
          standby.position = Math.max(0, standby.position - one.back);
        }
        if (one.do === 'read') {
          const route = one.write ? routes.primary : routes.routeOf('caller');
          if (one.write) primary.position += 1;
          const [row] = await route.db.query<{ position: string }>(READ);
          routes.saw('caller', route);
          expect(Number(row?.position)).toBeGreaterThanOrEqual(seen);
          seen = Number(row?.position);
        } else {
          clock.now += 1;
          await routes.compare();
        }
      }
    }),
    { numRuns: runs(300) },
  );
});

test('a URL for reads on another server names a standby', () => {
  const primary = 'postgres://service@db:5432/ads';
  expect(readDatabaseUrls({ DATABASE_URL: primary })).toEqual({ primary, replicas: [] });
  const reader = 'postgres://reader@db/ads?sslmode=verify-full';
  expect(readDatabaseUrls({ DATABASE_URL: primary, READ_DATABASE_URL: reader })).toEqual({
    primary: reader,
    replicas: [],
  });
  const standby = 'postgres://reader@standby/ads';
  expect(
    readDatabaseUrls({ DATABASE_URL: primary, READ_DATABASE_URL: standby, READ_DATABASE_URLS: [reader] }),
  ).toEqual({ primary, replicas: [standby, reader] });
});
