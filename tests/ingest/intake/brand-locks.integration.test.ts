import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { BRAND_LOCK_CLASS, PAGE_LOCK_CLASS } from '#contracts/ports/advisory-locks.ts';
import { brandIdOf } from '#domain/ids.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { type BrandLocks, openBrandLocks } from '#services/ingest/intake/brand-locks.ts';
import { ad } from '#tests/dsl/scans.ts';
import { type IntakeStack, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

let stack: IntakeStack;
let database: Database;
beforeAll(async () => {
  stack = await openIntakeStack();
  database = openPool(stack.databaseUrl, 2);
});
afterAll(async () => {
  await database.end();
  await stack[Symbol.asyncDispose]();
});

const untilWaiting = async (count: number, lockClass: number = BRAND_LOCK_CLASS): Promise<void> => {
  const waiting = async (): Promise<number> => {
    const { rows } = await database.query(
      `select from pg_locks where locktype = 'advisory' and classid = $1 and not granted
         and database = (select oid from pg_database where datname = current_database())`,
      [lockClass],
    );
    return rows.length;
  };
  await expect.poll(waiting, { timeout: 60_000 }).toBe(count);
};

const hold = async (run: (locks: BrandLocks, work: () => Promise<void>) => Promise<void>) => {
  const locks = openBrandLocks(stack.databaseUrl);
  const held = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const running = run(locks, async () => {
    taken.resolve();
    await held.promise;
  });
  await taken.promise;
  return async (): Promise<void> => {
    held.resolve();
    await running;
    await locks[Symbol.asyncDispose]();
  };
};
const holdLock = (name: string) => hold((locks, work) => locks.run(name, work));

const typesOf = async (domain: string): Promise<readonly string[]> => {
  const types: string[] = [];
  for await (const { type } of stack.eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf(domain))))
    types.push(type);
  return types;
};

describe('processes that record scans of a brand', () => {
  it('record one after the other', async () => {
    const domain = 'locked.example';
    const release = await holdLock(brandIdOf(domain));
    const { chunks, end } = scanOf(domain, '2026-05-02T10:00:00Z', [ad('71', { page_id: '710000001' })], {
      pages: ['710000001'],
    });
    for (const chunk of chunks) await stack.intake.submit(chunk);
    const submitted = stack.intake.submit(end);
    await untilWaiting(1);
    expect(await typesOf(domain)).toEqual([]);
    const other = scanOf('not-locked.example', '2026-05-02T10:00:00Z', [ad('72', { page_id: '720000001' })], {
      pages: ['720000001'],
    });
    for (const part of [...other.chunks, other.end]) await stack.intake.submit(part);
    await release();
    await submitted;
    expect(await typesOf(domain)).toEqual(['AdStarted', 'ScanRecorded']);
  });

  it('append nothing after they lost a lock, and take it again', async () => {
    const [domain, page] = ['lost.example', '730000001'];
    const releaseBrand = await holdLock(brandIdOf(domain));
    const { chunks, end } = scanOf(domain, '2026-05-02T10:00:00Z', [ad('73', { page_id: page })], {
      pages: [page],
    });
    for (const chunk of chunks) await stack.intake.submit(chunk);
    const submitted = stack.intake.submit(end);
    await untilWaiting(1);
    await database.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = $1 and granted
         and database = (select oid from pg_database where datname = current_database())`,
      [PAGE_LOCK_CLASS],
    );
    const releasePage = await hold((locks, work) => locks.runOnPlaces({ alone: [page] }, work));
    await releaseBrand();
    await untilWaiting(1, PAGE_LOCK_CLASS);
    expect(await typesOf(domain)).toEqual([]);
    await releasePage();
    await submitted;
    expect(await typesOf(domain)).toEqual(['AdStarted', 'ScanRecorded']);
  });

  it('hold a lock in a transaction, which a pooler keeps on one session, and hold up no vacuum', async () => {
    const release = await holdLock('pooled');
    const holders = async () =>
      (
        await database.query<{ state: string; xmin: string | null }>(
          `select state, coalesce(backend_xmin, backend_xid)::text as xmin
           from pg_locks join pg_stat_activity using (pid)
           where locktype = 'advisory' and classid = $1 and granted and database = datid and datname = current_database()`,
          [BRAND_LOCK_CLASS],
        )
      ).rows;
    await expect.poll(holders).toEqual([{ state: 'idle in transaction', xmin: null }]);
    await release();
    await expect.poll(holders).toEqual([]);
  });

  it('go on without a lock that another process holds too long', async () => {
    const release = await holdLock('long');
    await using locks = openBrandLocks(stack.databaseUrl, 50);
    expect(await locks.run('long', () => Promise.resolve('done'))).toBe('done');
    await release();
  });

  it('release their lock when its work fails', async () => {
    await using locks = openBrandLocks(stack.databaseUrl);
    await expect(locks.run('failing', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await (await holdLock('failing'))();
  });
});
