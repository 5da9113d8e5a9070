import { expect, test } from 'vitest';
import { type AdLibraryEvent, adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { OBSERVATIONS_STREAM, observationSubject } from '#contracts/messages/subjects.ts';
import { BRAND_LOCK_CLASS, PAGE_LOCK_CLASS } from '#contracts/ports/advisory-locks.ts';
import { brandIdOf } from '#domain/ids.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { headersFrom, openNats } from '#platform/nats/connection.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { ad } from '#tests/dsl/scans.ts';
import { createTestNats } from '#tests/stack/database.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { proxied } from '../../faults/fault-proxy.ts';
import { openIntakeServers, openIntakeStack } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

const POLL = { timeout: 45_000 } as const;
const DOMAIN = 'frozen.example';
const PAGE = '740000001';
const SCANS = ['2026-05-02T10:00:00Z', '2026-05-03T10:00:00Z'].map((at, day) =>
  scanOf(DOMAIN, at, [ad('741', { page_id: PAGE }), ad(`742${day}`, { page_id: PAGE })], { pages: [PAGE] }),
);
const [FIRST, SECOND] = SCANS as [(typeof SCANS)[0], (typeof SCANS)[0]];

const eventsOf = async (eventStore: EventStore): Promise<readonly unknown[]> => {
  const events: unknown[] = [];
  for await (const { type, data } of eventStore.read<AdLibraryEvent>(adLibraryStream(brandIdOf(DOMAIN))))
    events.push({ type, data });
  return events;
};

test('a leader that is stopped while it records a scan loses its locks, and another process records the same', async () => {
  await using own = new AsyncDisposableStack();
  const undisturbed = own.use(await openIntakeStack());
  const expected: (readonly unknown[])[] = [];
  for (const { chunks, end } of SCANS) {
    for (const part of [...chunks, end]) await undisturbed.intake.submit(part);
    expected.push(await eventsOf(undisturbed.eventStore));
  }

  const servers = own.use(await openIntakeServers());
  const database = openPool(servers.databaseUrl, 1);
  own.defer(() => database.end());
  const natsServer = await createTestNats();
  own.defer(() => natsServer.stop());
  const nats = own.use(await openNats(natsServer.url, 'test'));
  const through = await proxied(servers.eventStoreUrl);
  const proxy = own.use(through.proxy);
  const start = (eventStoreUrl: string) => {
    const started = startProcess('services/ingest/main.ts', {
      DATABASE_URL: servers.databaseUrl,
      EVENT_STORE_URL: eventStoreUrl,
      NATS_URL: natsServer.url,
    });
    own.defer(() => started.kill());
    return started;
  };
  const publish = async (...parts: readonly object[]): Promise<void> => {
    for (const part of parts)
      await nats.jetstream.publish(observationSubject(DOMAIN), JSON.stringify(part), {
        headers: headersFrom(routingHeadersOf(part)),
      });
  };
  const queued = async () => (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages;
  const lockHolders = async (): Promise<readonly number[]> => {
    const { rows } = await database.query<{ pid: number }>(
      `select distinct pid from pg_locks where locktype = 'advisory' and classid = any($1) and granted
         and database = (select oid from pg_database where datname = current_database())`,
      [[BRAND_LOCK_CLASS, PAGE_LOCK_CLASS]],
    );
    return rows.map(({ pid }) => pid);
  };

  const leader = start(through.url);
  await leader.says('ingest consumer started');
  const standby = start(servers.eventStoreUrl);
  await publish(...FIRST.chunks);
  await expect.poll(queued, POLL).toBe(0);
  proxy.set('mute');
  await publish(FIRST.end);
  await expect.poll(lockHolders, POLL).not.toEqual([]);
  leader.child.kill('SIGSTOP');
  const stopped = new Set(await lockHolders());
  expect(stopped.size).toBeGreaterThan(0);
  await expect.poll(async () => (await lockHolders()).filter((pid) => stopped.has(pid)), POLL).toEqual([]);
  await standby.says('ingest consumer started');
  await expect.poll(() => eventsOf(servers.eventStore), POLL).toEqual(expected[0]);

  proxy.set('pass');
  leader.child.kill('SIGCONT');
  await leader.says('lease lost');
  await publish(...SECOND.chunks, SECOND.end);
  await expect.poll(queued, POLL).toBe(0);
  expect(await eventsOf(servers.eventStore)).toEqual(expected[1]);
});
