import { brandProfile } from '#tests/dsl/site-events.ts';
import { expect, test } from 'vitest';
import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { BRAND_LOCK_CLASS, PAGE_LOCK_CLASS } from '#contracts/ports/advisory-locks.ts';
import { brandIdOf } from '#domain/ids.ts';
import { LeaseLost, openLeases } from '#platform/postgres/lease/leases.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { openBrandLocks } from '#services/ingest/intake/brand-locks.ts';
import { ad } from '#tests/dsl/scans.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';
import { type FaultProxy, proxied } from '../../faults/fault-proxy.ts';

const POLL = { timeout: 60_000 } as const;

const profile = (domain: string, observed_at = '2026-05-02T10:00:00Z', name = domain) =>
  brandProfile({ domain, observed_at, name });

type LeadingStack = IntakeStack & {
  readonly database: Database;
  takeOver(): Promise<unknown>;
};

/** `reach` returns the connection string for the event store. */
const openLeadingStack = async (
  reach?: (eventStoreUrl: string) => Promise<string>,
): Promise<LeadingStack> => {
  const resources = new AsyncDisposableStack();
  const stack = resources.use(await openIntakeStack(reach));
  const database = openPool(stack.databaseUrl, 2);
  resources.defer(() => database.end());
  const leases = resources.use(await openLeases(stack.databaseUrl));
  const lease = await leases.acquire({ kind: 'ingest', part: 'all' });
  if (lease === null) throw new Error('another process leads');
  stack.intake.leadWith(lease);
  return {
    ...stack,
    database,
    takeOver: () => database.query(`update run.lease set epoch = epoch + 1 where kind = 'ingest'`),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

test('a process whose lease was taken over while it was stopped appends nothing', async () => {
  await using stack = await openLeadingStack();
  expect((await stack.intake.submit(profile('led.example'))).events).toBe(1);
  await stack.takeOver();
  await expect(stack.intake.submit(profile('stopped.example'))).rejects.toThrow(LeaseLost);
  const last = await stack.eventStore.last(brandStream(brandIdOf('stopped.example')));
  expect(last ?? null).toBeNull();
});

test('a process that lost its lease and its locks gives up, and does not wait for the locks of the new leader', async () => {
  await using own = new AsyncDisposableStack();
  const stack = own.use(await openLeadingStack());
  const { database, intake, eventStore } = stack;
  const [domain, page] = ['both-lost.example', '750000001'];
  const locksOf = async (lockClass: number, granted: boolean): Promise<number> => {
    const { rows } = await database.query(
      `select from pg_locks where locktype = 'advisory' and classid = $1 and granted = $2
         and database = (select oid from pg_database where datname = current_database())`,
      [lockClass, granted],
    );
    return rows.length;
  };
  const [held, kept] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const others = own.use(openBrandLocks(stack.databaseUrl));
  own.defer(() => {
    held.resolve();
    kept.resolve();
  });
  const holdingBrand = others.run(brandIdOf(domain), () => held.promise);
  await expect.poll(() => locksOf(BRAND_LOCK_CLASS, true), POLL).toBe(1);
  const { chunks, end } = scanOf(domain, '2026-05-02T10:00:00Z', [ad('75', { page_id: page })], {
    pages: [page],
  });
  for (const chunk of chunks) await intake.submit(chunk);
  let isOver = false;
  const submitted = intake.submit(end).finally(() => (isOver = true));
  submitted.catch(() => undefined);
  await expect.poll(() => locksOf(BRAND_LOCK_CLASS, false), POLL).toBe(1);
  await database.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = $1 and granted
       and database = (select oid from pg_database where datname = current_database())`,
    [PAGE_LOCK_CLASS],
  );
  await stack.takeOver();
  const holdingPage = others.runOnPlaces({ alone: [page] }, () => kept.promise);
  await expect.poll(() => locksOf(PAGE_LOCK_CLASS, true), POLL).toBe(1);
  held.resolve();
  await holdingBrand;
  await expect.poll(async () => isOver || (await locksOf(PAGE_LOCK_CLASS, false)) > 0, POLL).toBe(true);
  expect(await locksOf(PAGE_LOCK_CLASS, false)).toBe(0);
  await expect(submitted).rejects.toThrow(LeaseLost);
  expect((await eventStore.last(adLibraryStream(brandIdOf(domain)))) ?? null).toBeNull();
  kept.resolve();
  await holdingPage;
});

test('a process whose lease was taken over while the event store was silent does not repeat its append', async () => {
  await using own = new AsyncDisposableStack();
  let proxy: FaultProxy | undefined;
  const stack = own.use(
    await openLeadingStack(async (eventStoreUrl) => {
      const through = await proxied(eventStoreUrl);
      proxy = own.use(through.proxy);
      return through.url;
    }),
  );
  const { database, intake } = stack;
  await intake.submit(profile('silent.example'));
  const { rows } = await database.query<{ now: Date }>('select clock_timestamp() as now');
  proxy?.set('mute');
  const submitted = intake.submit(profile('silent.example', '2026-05-03T10:00:00Z', 'Silent'));
  submitted.catch(() => undefined);
  const proofs = async (): Promise<number> => {
    const { rowCount } = await database.query(
      `select from pg_stat_activity where datname = current_database() and query_start > $1
         and query like 'select from run.lease%' and state = 'idle'`,
      [rows[0]?.now],
    );
    return rowCount ?? 0;
  };
  await expect.poll(proofs, POLL).toBeGreaterThan(0);
  await stack.takeOver();
  await expect(submitted).rejects.toThrow(LeaseLost);
});
