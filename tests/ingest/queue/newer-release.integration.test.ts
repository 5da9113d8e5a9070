import { brandProfile } from '#tests/dsl/site-events.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  AD_LIBRARY,
  type AdLibraryEvent,
  adLibraryStream,
  adLibraryVersions,
} from '#contracts/events/corpus/ad-library.ts';
import { BRAND, brandVersions } from '#contracts/events/corpus/brand.ts';
import { SCHEMA_REGISTRY, type SchemaRegistry } from '#contracts/events/schema-registry.ts';
import type { EventData } from '#contracts/events/versions.ts';
import {
  DEAD_LETTERS_STREAM,
  OBSERVATIONS_STREAM,
  observationSubject,
} from '#contracts/messages/subjects.ts';
import { brandIdOf } from '#domain/ids.ts';
import { silentLog } from '#platform/logger.ts';
import { openNats } from '#platform/nats/connection.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { consumeObservations } from '#services/ingest/queue/consumer.ts';
import { ad } from '#tests/dsl/scans.ts';
import { createTestNats } from '#tests/stack/database.ts';
import { type IntakeServers, openIntakeServers } from '../fixtures/intake-stack.ts';
import { scanOf } from '../fixtures/scan-messages.ts';

const POLL = { timeout: 60_000 } as const;

/** Servers of two releases. Intakes close before a change, because an open one follows the log with its release. */
let stack: IntakeServers;
let database: Database;
beforeAll(async () => {
  stack = await openIntakeServers();
  database = openPool(stack.databaseUrl, 1);
});
afterAll(async () => {
  await database.end();
  await stack[Symbol.asyncDispose]();
});

describe('a stream with an event of a newer release', () => {
  const registry = SCHEMA_REGISTRY as Record<string, SchemaRegistry[string]>;
  /** Selects a release: the newer one has one schema version of two events more. */
  const release = (name: 'older' | 'newer'): void => {
    const added = name === 'newer' ? [(data: EventData) => data] : [];
    registry[AD_LIBRARY] = {
      ...adLibraryVersions,
      ScanRecorded: [...adLibraryVersions.ScanRecorded, ...added],
    };
    registry[BRAND] = { ...brandVersions, BrandRegistered: [...brandVersions.BrandRegistered, ...added] };
  };
  afterEach(() => {
    registry[AD_LIBRARY] = adLibraryVersions;
    registry[BRAND] = brandVersions;
  });

  const scansOf = async (domain: string): Promise<readonly string[]> => {
    const times: string[] = [];
    for await (const { type, data } of stack.eventStore.read<AdLibraryEvent>(
      adLibraryStream(brandIdOf(domain)),
    ))
      if (type === 'ScanRecorded') times.push(data.observed_at);
    return times;
  };

  it('lets only its own observations wait, in the queue, and continues with them after the upgrade', async () => {
    await using own = new AsyncDisposableStack();
    const server = await createTestNats();
    own.defer(() => server.stop());
    const nats = own.use(await openNats(server.url, 'test'));
    const servers = { databaseUrl: stack.databaseUrl, eventStoreUrl: stack.eventStoreUrl };
    const [first, second, third] = ['2026-05-02', '2026-05-03', '2026-05-04'].map(
      (day) => `${day}T10:00:00.000Z`,
    ) as [string, string, string];
    const publish = async (domain: string, at: string, page: string): Promise<void> => {
      const { chunks, end } = scanOf(domain, at, [ad(page, { page_id: page })], { pages: [page] });
      for (const observation of [...chunks, end])
        await nats.jetstream.publish(observationSubject(domain), JSON.stringify(observation));
    };
    const unacknowledged = async () => (await nats.manager.streams.info(OBSERVATIONS_STREAM)).state.messages;
    const consume = async (concurrency: number) => {
      const running = new AsyncDisposableStack();
      const intake = running.use(await openIntake(servers));
      running.use(await consumeObservations({ nats, intake, log: silentLog(), concurrency }));
      return running;
    };

    // After the rollback the older release builds its tables again.
    release('newer');
    {
      await using _ = await consume(2);
      await publish('rolled-back.example', first, '310000008');
      await expect.poll(unacknowledged, POLL).toBe(0);
    }
    await database.query('drop schema ingest cascade');
    release('older');
    await publish('rolled-back.example', second, '310000008');
    await publish('rolled-back.example', third, '310000008');
    await publish('unaffected.example', second, '310000009');
    for (let start = 0; start < 2; start += 1) {
      await using _ = await consume(2);
      await expect.poll(() => scansOf('unaffected.example'), POLL).toEqual([second]);
      // They hold no slot.
      await expect.poll(unacknowledged, POLL).toBe(2);
      expect(await scansOf('rolled-back.example')).toEqual([first]);
    }
    release('newer');
    await using _ = await consume(2);
    await expect.poll(unacknowledged, POLL).toBe(0);
    expect(await scansOf('rolled-back.example')).toEqual([first, second, third]);
    expect(
      (await nats.manager.streams.info(DEAD_LETTERS_STREAM)).state.messages,
      'none became a dead letter',
    ).toBe(0);
  });

  it('is folded into the working tables by the release that reads it, although others were folded before', async () => {
    const servers = { databaseUrl: stack.databaseUrl, eventStoreUrl: stack.eventStoreUrl };
    const known = async (domain: string): Promise<boolean> =>
      ((await database.query('select from ingest.brand where domain = $1', [domain])).rowCount ?? 0) > 0;
    const profile = (domain: string) =>
      brandProfile({ domain, observed_at: '2026-05-02T10:00:00Z', name: domain });
    const submit = async (domain: string): Promise<void> => {
      await using intake = await openIntake(servers);
      await intake.submit(profile(domain));
    };
    release('newer');
    await submit('newly-written.example');
    release('older');
    await submit('as-before.example');
    await database.query('delete from ingest.brand');
    await database.query('delete from ingest.folded_to');
    await (await openIntake(servers))[Symbol.asyncDispose]();
    expect([await known('newly-written.example'), await known('as-before.example')]).toEqual([false, true]);
    release('newer');
    await (await openIntake(servers))[Symbol.asyncDispose]();
    expect([await known('newly-written.example'), await known('as-before.example')]).toEqual([true, true]);
  });
});
