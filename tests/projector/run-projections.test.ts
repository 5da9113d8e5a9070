import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FactMetadata } from '#contracts/events/fact.ts';
import { type EventStore, openEventStore } from '#platform/event-store.ts';
import { silentLog } from '#platform/log.ts';
import { type Database, openPool } from '#platform/postgres.ts';
import { type Projection, projection } from '#projections/projection.ts';
import { runProjections } from '#services/projector/run-projections.ts';
import { createTestDatabase, createTestEventStore } from '#tests/stack/database.ts';
import { untilPassed } from '#tests/stack/read-models.ts';

type Counted = { type: 'Counted'; data: { name: string; by: number } };

const METADATA: FactMetadata = {
  $correlationId: 'test',
  $causationId: 'test',
  request_id: 'test',
  actor: { kind: 'service', id: 'test' },
  schema_version: 1,
};

let resources: AsyncDisposableStack;
let databaseUrl: string;
let eventStoreUrl: string;
let database: Database;
let eventStore: EventStore;
let schema: URL;

beforeAll(async () => {
  resources = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'projector-'));
  resources.defer(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'schema.sql');
  writeFileSync(
    file,
    'create table counter (name text primary key, total bigint not null default 0);\n-- indexes\n',
  );
  schema = pathToFileURL(file);
  const own = await createTestDatabase();
  resources.defer(() => own.drop());
  const store = await createTestEventStore();
  resources.defer(() => store.stop());
  ({ url: databaseUrl } = own);
  ({ url: eventStoreUrl } = store);
  database = openPool(databaseUrl, 2);
  resources.defer(() => database.end());
  eventStore = resources.use(openEventStore(eventStoreUrl));
});
afterAll(() => resources.disposeAsync());

/** Counts by name; `fails` says at which amounts it breaks. */
const counter = (
  name: string,
  version = 1,
  fails: (by: number) => boolean = () => false,
  factor = 1,
): Projection =>
  projection<Counted>({
    name,
    version,
    prefixes: ['counted-'],
    schema,
    statements: {},
    project: ({ data }) => {
      if (fails(data.by)) throw new Error(`cannot count ${data.by}`);
      return [
        { kind: 'increment', table: 'counter', key: { name: data.name }, by: { total: data.by * factor } },
      ];
    },
  });

let commands = 0;
const count = async (name: string, ...amounts: readonly number[]): Promise<void> => {
  const last = await eventStore.last(`counted-${name}`);
  commands += 1;
  await eventStore.append(
    `counted-${name}`,
    last?.revision ?? -1n,
    amounts.map((by): Counted => ({ type: 'Counted', data: { name, by } })),
    METADATA,
    `count ${commands}`,
  );
};

const running = (projections: readonly Projection[]) => {
  const stopping = new AbortController();
  const run = runProjections({
    databaseUrl,
    eventStoreUrl,
    projections,
    log: silentLog(),
    signal: stopping.signal,
  });
  return {
    passed: async (): Promise<void> =>
      untilPassed(
        database,
        await eventStore.head(),
        30_000,
        projections.map(({ name }) => name),
      ),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      stopping.abort();
      await run;
    },
  };
};

const totals = async (name: string): Promise<Record<string, number>> => {
  const { rows } = await database.query<{ name: string; total: string }>(
    `select name, total from ${name}.counter`,
  );
  return Object.fromEntries(rows.map((row) => [row.name, Number(row.total)]));
};

it('parks a fact it cannot apply with the rest of its stream, and holds nobody else', async () => {
  await count('left', 1, 13, 2);
  await count('right', 4);
  const broken = counter('broken', 1, (by) => by === 13);
  await using projector = running([broken, counter('sound')]);
  await projector.passed();
  await count('left', 5);
  await count('right', 6);
  await projector.passed();
  expect(await totals('broken')).toEqual({ left: 1, right: 10 });
  expect(await totals('sound')).toEqual({ left: 21, right: 10 });
  const { rows } = await database.query(
    `select stream, type, error is not null as failed from projector.parked where projection = 'broken' order by position`,
  );
  expect(rows).toEqual([
    { stream: 'counted-left', type: 'Counted', failed: true },
    { stream: 'counted-left', type: 'Counted', failed: false },
    { stream: 'counted-left', type: 'Counted', failed: false },
  ]);
});

it('goes on from its checkpoint, and applies nothing twice', async () => {
  {
    await using projector = running([counter('sound')]);
    await projector.passed();
  }
  const before = await totals('sound');
  await count('right', 100);
  await using projector = running([counter('sound')]);
  await projector.passed();
  expect(await totals('sound')).toEqual({ ...before, right: (before['right'] ?? 0) + 100 });
});

it('builds a changed version beside the old, and swaps', async () => {
  const before = await totals('sound');
  await using projector = running([counter('sound', 2, undefined, 10)]);
  await expect
    .poll(
      async () =>
        (await database.query(`select version from projector.projection where name = 'sound'`)).rows,
      {
        timeout: 20_000,
      },
    )
    .toEqual([{ version: 2 }]);
  await projector.passed();
  expect(await totals('sound')).toEqual(
    Object.fromEntries(Object.entries(before).map(([name, total]) => [name, total * 10])),
  );
  await count('left', 7);
  await projector.passed();
  expect((await totals('sound'))['left']).toBe((before['left'] ?? 0) * 10 + 70);
});

it('keeps the old tables where the changed version fails', async () => {
  const before = await totals('sound');
  await using projector = running([counter('sound', 3, (by) => by === 100)]);
  await expect
    .poll(
      async () =>
        (await database.query(`select state, last_error from projector.projection where name = 'sound'`))
          .rows[0],
      {
        timeout: 20_000,
      },
    )
    .toMatchObject({ state: 'failed', last_error: expect.stringContaining('cannot count 100') });
  expect(await totals('sound')).toEqual(before);
  expect(projector).toBeDefined();
});

it('has one owner at a time; a standby takes over', async () => {
  await using standby = await (async () => {
    await using owner = running([counter('owned')]);
    await owner.passed();
    const next = running([counter('owned')]);
    await count('left', 1);
    await owner.passed();
    return next;
  })();
  await count('left', 1);
  await standby.passed();
  const { rows } = await database.query(
    `select sum(total)::int as sum from owned.counter where name = 'left'`,
  );
  let expected = 0;
  for await (const fact of eventStore.read<Counted>('counted-left')) expected += fact.data.by;
  expect(rows).toEqual([{ sum: expected }]);
});
