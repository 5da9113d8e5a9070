import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  readProjectionVerification,
  requestRebuild,
  requestVerification,
  watchVerification,
} from '#services/ops/projections.ts';
import { silentLog } from '#platform/logger.ts';
import { proxied } from '../faults/fault-proxy.ts';
import { untilPassed } from '../stack/read-models.ts';
import { type CountingStack, GATE, openCountingStack, WAIT } from './counting-projection.ts';

const VERIFIED_MS = 60_000;
/** Milliseconds until connections that died without a word are given up, and a session has begun again. */
const FOUND_MS = 60_000;
const TEST_LIMIT_MS = 180_000;

let stack: CountingStack;
beforeAll(async () => {
  stack = await openCountingStack();
  // The position of the first event may be 0, which projections without tables have passed.
  await stack.count('first', 1, 1);
});
afterAll(() => stack[Symbol.asyncDispose]());

const waiting = async (): Promise<number> => {
  const { rows } = await stack.database.query<{ pids: number }>(
    `select count(*)::int as pids from pg_locks l join pg_database d on d.oid = l.database
     where d.datname = current_database() and l.locktype = 'advisory' and l.objid = $1 and not l.granted`,
    [GATE],
  );
  return rows[0]?.pids ?? 0;
};

/** Takes the lease of all projections away and gives it back, as a process does that takes over and stops. */
const endSession = (): Promise<unknown> =>
  stack.database.query(
    `with taken as (
       update run.lease set epoch = epoch + 1, until = now() where kind = 'projections' returning epoch)
     update run.progress p set epoch = t.epoch from taken t where p.kind = 'projections'`,
  );

test('the others go on after a session ended in a rebuild, which is then resumed', async () => {
  await using projector = stack.running([
    stack.counter('built', { waitsIn: '_next' }),
    stack.counter('other'),
  ]);
  await stack.count('a', 1);
  await projector.passed();
  await using gate = await stack.closeGate();
  await requestRebuild(stack.database, 'built', { from: 'start', by: 'test' });
  await expect.poll(waiting, WAIT).toBe(1);
  await endSession();
  await stack.count('a', 2);
  await projector.passed();
  expect(await stack.totals('other')).toMatchObject({ a: 3 });
  // Only the statement of the next session waits. The server has ended the former one.
  await expect.poll(waiting, WAIT).toBe(1);
  await gate[Symbol.asyncDispose]();
  expect(await stack.built('built')).toMatchObject({ state: 'done', error: null });
  expect(await stack.totals('built')).toMatchObject({ a: 3 });
});

test('the others go on after a session ended in a verification, which then begins again', async () => {
  await using projector = stack.running([
    stack.counter('verified', { waitsIn: '_verify' }),
    stack.counter('another'),
  ]);
  await stack.count('b', 1);
  await projector.passed();
  await using gate = await stack.closeGate();
  await requestVerification(stack.database, 'verified', { to: null, by: 'test' });
  await expect.poll(waiting, WAIT).toBe(1);
  await endSession();
  await stack.count('b', 2);
  await projector.passed();
  expect((await stack.totals('another'))['b']).toBe(3);
  expect(await readProjectionVerification(stack.database, 'verified')).toMatchObject({
    state: 'reading',
    finished_at: null,
  });
  await gate[Symbol.asyncDispose]();
  const ended = AbortSignal.timeout(VERIFIED_MS);
  expect(await watchVerification(stack.database, 'verified', () => undefined, ended)).toMatchObject({
    state: 'passed',
  });
});

test('a projector stops while a statement of a rebuild waits', async () => {
  await using gate = await stack.closeGate();
  {
    await using projector = stack.running([stack.counter('stopped', { waitsIn: '_next' })]);
    await projector.passed();
    await requestRebuild(stack.database, 'stopped', { from: 'start', by: 'test' });
    await expect.poll(waiting, WAIT).toBe(1);
  }
  await expect.poll(waiting, WAIT).toBe(0);
  expect(gate).toBeDefined();
});

test('the others go on after the connections died without a word in a rebuild', {
  timeout: TEST_LIMIT_MS,
}, async () => {
  const { proxy, url } = await proxied(stack.databaseUrl);
  await using _ = proxy;
  await using projector = stack.running(
    [stack.counter('silenced', { waitsIn: '_next' }), stack.counter('other')],
    silentLog(),
    url,
  );
  await stack.count('d', 1);
  await projector.passed();
  await using gate = await stack.closeGate();
  await requestRebuild(stack.database, 'silenced', { from: 'start', by: 'test' });
  await expect.poll(waiting, WAIT).toBe(1);
  proxy.halfOpen();
  await stack.count('d', 2);
  await untilPassed(stack.database, await stack.eventStore.head(), FOUND_MS, ['silenced', 'other']);
  await gate[Symbol.asyncDispose]();
  expect(await stack.built('silenced')).toMatchObject({ state: 'done', error: null });
  expect((await stack.totals('silenced'))['d']).toBe(3);
});
