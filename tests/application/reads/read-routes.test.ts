import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { ReadsBusy, readDatabaseUrls } from '#platform/postgres/read-database.ts';
import { createReadRoutes, LATE_MS, type ReadRoutes } from '#application/reads/read-routes.ts';
import { runs } from '../../property-seed.ts';

type Server = { position: number; failure: Error | null };

const serverAt = (position: number): Server => ({ position, failure: null });

const databaseOf = (server: Server): ReadDatabase => {
  const answer = async <Row>(): Promise<readonly Row[]> => {
    if (server.failure) throw server.failure;
    return [{ position: String(server.position) }] as unknown as readonly Row[];
  };
  return { query: answer, slow: answer };
};
const gone = (): Error => Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });
const coded = (code: string): Error => Object.assign(new Error('refused'), { code });
const READ = { sql: 'select 1', values: [] };

const createRoutes = (primary: Server, standby: Server, clock: { now: number }): ReadRoutes =>
  createReadRoutes({
    primary: databaseOf(primary),
    standby: databaseOf(standby),
    projectionWait: { wait: async () => true, [Symbol.asyncDispose]: async () => undefined },
    now: () => clock.now,
    compareMs: null,
  });

/** Opens routes over a standby at position 0 and a primary at 10. */
const open = (position = 10) => {
  const clock = { now: 1_000 };
  const primary = serverAt(10);
  const standby = serverAt(position);
  const routes = createRoutes(primary, standby, clock);
  const compare = async (): Promise<void> => {
    clock.now += 1;
    await routes.compare();
  };
  return { clock, primary, standby, routes, compare, nameOf: (id = 'caller') => routes.routeOf(id).name };
};

test('a caller that saw the primary reads the standby once that has caught up', async () => {
  const { clock, primary, standby, routes, compare, nameOf } = open(0);
  expect(nameOf()).toBe('primary');
  await compare();
  expect(nameOf()).toBe('primary');
  standby.position = 10;
  await compare();
  expect(nameOf()).toBe('standby');
  clock.now += 1;
  routes.saw('caller', routes.primary);
  primary.position = 20;
  await compare();
  expect([nameOf(), nameOf('other')]).toEqual(['primary', 'standby']);
  standby.position = 20;
  await compare();
  expect(nameOf()).toBe('standby');
});

test('the standby is left out while it is over ten seconds late', async () => {
  const { clock, primary, compare, nameOf } = open();
  await compare();
  const since = clock.now;
  primary.position = 20;
  clock.now = since + LATE_MS - 1;
  await compare();
  expect(nameOf()).toBe('standby');
  clock.now += 1;
  expect(nameOf()).toBe('primary');
});

test('a standby that came back at an earlier state has to catch up again', async () => {
  const { standby, compare, nameOf } = open();
  await compare();
  standby.position = 9;
  await compare();
  expect(nameOf()).toBe('primary');
});

describe('a read is repeated on the primary, and further ones of the request go there, when the standby', () => {
  test.each([
    ['is gone', gone()],
    ['cancels it for its recovery', coded('40001')],
    ['has no free connection for reads', new ReadsBusy()],
    ['has no connection left', coded('53300')],
    ['refuses the login', coded('28P01')],
    ['cancels the statement', coded('57014')],
  ])('%s', async (_, failure) => {
    const { clock, primary, standby, routes, compare, nameOf } = open();
    await compare();
    const route = routes.routeOf('caller');
    standby.failure = failure;
    primary.position = 20;
    clock.now += 1;
    expect(await route.db.query(READ)).toEqual([{ position: '20' }]);
    expect(route.hasReadPrimary()).toBe(true);
    routes.saw('caller', route);
    standby.failure = null;
    expect(await route.db.query(READ)).toEqual([{ position: '20' }]);
    expect(nameOf()).toBe('primary');
  });
});

test('requests go on at the primary when another one has found the standby gone', async () => {
  const { clock, primary, standby, routes, compare } = open();
  await compare();
  const [one, other] = [routes.routeOf('one'), routes.routeOf('other')];
  clock.now += 1;
  standby.failure = gone();
  await one.db.query(READ);
  standby.failure = null;
  primary.position = 11;
  expect(await other.db.query(READ)).toEqual([{ position: '11' }]);
  expect(other.hasReadPrimary()).toBe(true);
});

test('a statement at fault is not repeated', async () => {
  const { standby, routes, compare } = open();
  await compare();
  standby.failure = Object.assign(new Error('division by zero'), { code: '22012' });
  await expect(routes.routeOf('caller').db.query(READ)).rejects.toThrow('division by zero');
});

test('a caller never reads an earlier state than before, for any history of the standby', async () => {
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
  expect(readDatabaseUrls({ DATABASE_URL: primary })).toEqual({ primary, standby: null });
  const reader = 'postgres://reader@db/ads?sslmode=verify-full';
  expect(readDatabaseUrls({ DATABASE_URL: primary, READ_DATABASE_URL: reader })).toEqual({
    primary: reader,
    standby: null,
  });
  const standby = 'postgres://reader@standby/ads';
  expect(readDatabaseUrls({ DATABASE_URL: primary, READ_DATABASE_URL: standby })).toEqual({
    primary,
    standby,
  });
});
