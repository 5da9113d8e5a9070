import { expect, test } from 'vitest';
import { brandStream } from '#contracts/events/corpus/brand.ts';
import { brandIdOf } from '#domain/ids.ts';
import { openLeases } from '#platform/postgres/lease/leases.ts';
import { LeaseLost } from '#platform/postgres/lease/prove-lease.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openIntakeStack } from '../fixtures/intake-stack.ts';

const profile = (domain: string) => ({
  type: 'brand.profile',
  domain,
  observed_at: '2026-05-02T10:00:00Z',
  name: domain,
  description: null,
  url: null,
  logo_url: null,
  country: null,
  category_path: null,
  is_public: null,
  indexable: null,
});

test('a process whose lease was taken over while it was stopped appends nothing', async () => {
  await using resources = new AsyncDisposableStack();
  const stack = resources.use(await openIntakeStack());
  const database = openPool(stack.databaseUrl, 1);
  resources.defer(() => database.end());
  const leases = resources.use(await openLeases(stack.databaseUrl, 'test'));
  const lease = await leases.acquire({ kind: 'ingest', part: 'all' });
  if (lease === null) throw new Error('another process leads');
  stack.intake.leadWith(lease);
  expect((await stack.intake.submit(profile('led.example'))).events).toBe(1);
  await database.query(`update run.lease set epoch = epoch + 1 where kind = 'ingest'`);
  await expect(stack.intake.submit(profile('stopped.example'))).rejects.toThrow(LeaseLost);
  const last = await stack.eventStore.last(brandStream(brandIdOf('stopped.example')));
  expect(last ?? null).toBeNull();
});
