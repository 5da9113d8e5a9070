import { metadataOf } from '#tests/dsl/metadata.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EventMetadata } from '#contracts/events/event.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { type Log, silentLog } from '#platform/logger.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { type Projection, projection } from '#projections/define-projection.ts';
import {
  type Build,
  type ProjectionStatus,
  type Verification,
  readStatus,
  requestVerification,
  watchBuild,
  watchVerification,
} from '#services/ops/projections.ts';
import { runProjections } from '#services/projector/run.ts';
import { createTestDatabase, createTestEventStore } from '../stack/database.ts';
import { untilPassed } from '../stack/read-models.ts';

export type Counted = { type: 'Counted'; data: { name: string; by: number } };

export const WAIT = { timeout: 60_000, interval: 20 } as const;
const OVER_LIMIT_MS = 60_000;

export const METADATA: EventMetadata = metadataOf('test');

/** A lock held by a test, to block rebuilds or the tables of a projection. */
export const GATE = 42_000_001;

export type CounterOptions = {
  readonly version?: number;
  /** Amounts on which the projection throws. */
  readonly fails?: (by: number) => boolean;
  readonly factor?: number;
  /** Schemas in which writes wait for the gate: those of rebuilds, of verifications, or the live one. */
  readonly waitsIn?: '_next' | '_verify' | 'live';
};

export const openCountingStack = async () => {
  const resources = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'projector-'));
  resources.defer(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'schema.sql');
  writeFileSync(
    file,
    'create table counter (name text primary key, total bigint not null default 0);\n-- indexes\n',
  );
  const schema = pathToFileURL(file);
  const own = await createTestDatabase();
  resources.defer(() => own.drop());
  const store = await createTestEventStore();
  resources.defer(() => store.stop());
  const database: Database = openPool(own.url, 4);
  resources.defer(() => database.end());
  const eventStore: EventStore = resources.use(openEventStore(store.url));

  const counter = (name: string, options: CounterOptions = {}): Projection => {
    const { version = 1, fails = () => false, factor = 1, waitsIn } = options;
    const isHere = waitsIn === 'live' ? `not like '%\\_%'` : `like '%\\${waitsIn}'`;
    return projection<Counted>({
      name,
      version,
      prefixes: ['counted-'],
      schema,
      statements: {
        wait: {
          columns: { name: 'text' },
          touches: ['counter'],
          sql: `select pg_advisory_xact_lock_shared(${GATE}) from (select from :input i limit 1) o
                where current_schema() ${isHere}`,
        },
      },
      project: ({ data }) => {
        if (fails(data.by)) throw new Error(`cannot count ${data.by}`);
        const key = { name: data.name };
        return [
          ...(waitsIn === undefined ? [] : [{ kind: 'run', statement: 'wait', row: key } as const]),
          { kind: 'increment', table: 'counter', key, by: { total: data.by * factor } },
        ];
      },
    });
  };

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

  /** Appends events that no projection follows. */
  const lengthen = async (bytes: number): Promise<void> => {
    const text = 'x'.repeat(500_000);
    commands += 1;
    for (let written = 0; written < bytes; written += text.length)
      await eventStore.append(
        `padding-${commands}-${written}`,
        -1n,
        [{ type: 'Padded', data: { text } }],
        METADATA,
        `pad ${commands} ${written}`,
      );
  };

  const running = (
    projections: readonly Projection[],
    log: Log = silentLog(),
    databaseUrl: string = own.url,
    settings: Pick<Parameters<typeof runProjections>[0], 'probationFirstMs'> = {},
  ) => {
    const stopping = new AbortController();
    const run = runProjections({
      ...settings,
      databaseUrl,
      eventStoreUrl: store.url,
      projections,
      log,
      signal: stopping.signal,
    });
    return {
      passed: async (names: readonly string[] = projections.map(({ name }) => name)): Promise<void> =>
        untilPassed(database, await eventStore.head(), OVER_LIMIT_MS, names),
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

  const closeGate = async (gate: number = GATE): Promise<AsyncDisposable> => {
    const client = await database.connect();
    await client.query('select pg_advisory_lock($1)', [gate]);
    let isOpen = false;
    return {
      [Symbol.asyncDispose]: async () => {
        if (isOpen) return;
        isOpen = true;
        await client.query('select pg_advisory_unlock($1)', [gate]);
        client.release();
      },
    };
  };

  const statusOf = async (
    name: string,
    projections: readonly Projection[] = [],
  ): Promise<ProjectionStatus> => {
    const [status] = await readStatus(database, eventStore, projections, name);
    if (!status) throw new Error(`no status of ${name}`);
    return status;
  };

  const verified = async (name: string, to: bigint | null = null): Promise<Verification> => {
    await requestVerification(database, name, { to, by: 'test' });
    const limit = AbortSignal.timeout(OVER_LIMIT_MS);
    const verification = await watchVerification(database, name, () => undefined, limit);
    if (!verification) throw new Error(`no verification of ${name}`);
    return verification;
  };

  const built = (name: string): Promise<Build | null> =>
    watchBuild(database, name, () => undefined, AbortSignal.timeout(OVER_LIMIT_MS));

  const schemas = async (name: string): Promise<readonly string[]> => {
    const { rows } = await database.query<{ name: string }>(
      `select nspname as name from pg_namespace where nspname like $1 order by 1`,
      [`${name}%`],
    );
    return rows.map((row) => row.name);
  };

  return {
    databaseUrl: own.url,
    eventStoreUrl: store.url,
    database,
    eventStore,
    counter,
    count,
    lengthen,
    running,
    totals,
    closeGate,
    statusOf,
    verified,
    built,
    schemas,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
export type CountingStack = Awaited<ReturnType<typeof openCountingStack>>;
