import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { createReplica, LATE_MS, type PrimaryPosition } from '#application/reads/replica.ts';
import { readDatabaseUrls } from '#application/reads/open-read-databases.ts';
import { createReadRoutes } from '#application/reads/read-routes.ts';
import { runs } from '../../property-seed.ts';

/** A database that shows a position of the log, or fails. */
type Server = { position: number; failure: Error | null };

const databaseOf = (server: Server): ReadDatabase => {
  const answer = async <Row>(): Promise<readonly Row[]> => {
    if (server.failure) throw server.failure;
    return [{ position: String(server.position) }] as unknown as readonly Row[];
  };
  return { query: answer, slow: answer };
};
const gone = (): Error => Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
const conflict = (): Error => Object.assign(new Error('conflict with recovery'), { code: '40001' });

const create = () => {
  const clock = { now: 1_000 };
  const primary: Server = { position: 10, failure: null };
  const standby: Server = { position: 0, failure: null };
  const replica = createReplica('replica 1', databaseOf(standby), databaseOf(primary), () => clock.now);
  const positions: PrimaryPosition[] = [];
  const compare = async (): Promise<void> => {
    positions.push({ at: clock.now, position: BigInt(primary.position) });
    await replica.update(positions);
  };
  return { clock, primary, standby, replica, compare };
};
const READ = { sql: 'select 1', values: [] };

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
  expect(await replica.db.query(READ)).toEqual([{ position: '10' }]);
  expect(replica.mayServe(0)).toBe(false);
  standby.failure = null;
  clock.now += 5;
  await compare();
  expect(replica.mayServe(0)).toBe(true);
});

test('a statement at fault is not repeated', async () => {
  const { standby, replica } = create();
  standby.failure = Object.assign(new Error('division by zero'), { code: '22012' });
  await expect(replica.db.query(READ)).rejects.toThrow('division by zero');
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
      const primary: Server = { position: 5, failure: null };
      const standby: Server = { position: 5, failure: null };
      await using routes = createReadRoutes({
        primary: databaseOf(primary),
        replicas: [databaseOf(standby)],
        projectionWait: { wait: async () => true, [Symbol.asyncDispose]: async () => undefined },
        now: () => clock.now,
        compareMs: null,
      });
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
