import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Plan } from '#contracts/events/workspace/workspace.ts';
import type { Role } from '#contracts/values/roles.ts';
import type { Scope } from '#contracts/values/scopes.ts';
import { followAccess } from '#application/access/access-subscription.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { systemClock } from '#platform/clock.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { type Nats, openNats } from '#platform/nats/connection.ts';
import { openFolderStore } from '#platform/object-store/folder-object-store.ts';
import { type Database, openPool, openReadDatabase } from '#platform/postgres/pool.ts';
import { openReadPosition, type ReadPosition } from '#application/commands/projection-wait.ts';
import { grantReads } from '#platform/postgres/read-only-role.ts';
import { retry } from '#platform/concurrency/retry.ts';
import { openSecretVault } from '#application/vault/secret-vault.ts';
import { projections } from '#projections/index.ts';
import { openAlertChannels } from '#operations/dependencies/alert-channels.ts';
import { type ApiResources, buildApi } from '#services/api/server/server.ts';
import {
  addMemberNamed,
  createWorkspaceNamed,
  issueKey,
  revokeKey,
  setPlan,
} from '#services/ops/workspaces/operations.ts';
import { runProjections } from '#services/projector/run.ts';
import { createTestDatabase, createTestEventStore } from '#tests/stack/database.ts';
import { type CorpusBrand, seedCorpus } from './corpus.ts';

export const BASE_URL = 'https://api.test';
const POOL_CLIENTS = 10;
const READY_TIMEOUT_MS = 30_000;
/** 32 bytes, for the vaults. */
export const VAULT_KEY = Buffer.alloc(32, 7).toString('base64');
const EMAIL = {
  MAIL_DIR: join(tmpdir(), `test-mail-${process.pid}`),
  MAIL_FROM: 'Tests <tests@ads.example>',
};

export type Key = {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly keyId: string;
  readonly text: string;
};

/** Parts of a server that a test puts its own in place of. */
export type ApiOptions = Partial<ApiResources>;

/** A database, an event store, a projector and API servers of a test's own. */
export type ApiStack = AsyncDisposable & {
  /** Settings of a process that runs beside. */
  readonly environment: Readonly<Record<string, string>>;
  readonly pool: Database;
  readonly eventStore: EventStore;
  readonly readPosition: ReadPosition;
  readonly nats: Nats;
  /** Another API process, in all but name: its own caches, counters and connections. */
  api(options?: ApiOptions): Promise<FastifyInstance>;
  /** A workspace of its own with one member and one key. */
  key(options?: {
    readonly plan?: Plan;
    readonly role?: Role;
    readonly scopes?: readonly Scope[] | 'all';
  }): Promise<Key>;
  revoke(key: Key): Promise<void>;
  plan(key: Key, plan: Plan): Promise<void>;
  /** Records a corpus and waits until every projection shows it. */
  seed(names: readonly string[]): Promise<readonly CorpusBrand[]>;
  /** Waits until every projection has passed a position. */
  projected(position: bigint): Promise<void>;
  stopProjector(): Promise<void>;
};

const READER = 'reader_of_tests';

/** The role is the cluster's, which all tests share, so it is made by whoever comes first. */
const openReader = async (databaseUrl: string): Promise<string> => {
  const pool = openPool(databaseUrl, 1);
  try {
    await pool.query(`do $$ begin create role ${READER} login password '${READER}';
      exception when duplicate_object or unique_violation then null; end $$`);
    await retry(
      { attempts: 20, firstDelayMs: 20, maxDelayMs: 200 },
      () => true,
      () => grantReads(pool, READER, null),
    );
  } finally {
    await pool.end();
  }
  const url = new URL(databaseUrl);
  [url.username, url.password] = [READER, READER];
  return url.href;
};

export const openApiStack = async (): Promise<ApiStack> => {
  const resources = new AsyncDisposableStack();
  const log = silentLog();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const server = await createTestEventStore();
  resources.defer(() => server.stop());
  const nats = resources.use(await openNats(inject('natsUrl'), 'api-tests'));
  const readUrl = await openReader(database.url);

  const openProcess = () => {
    const pool = openPool(database.url, POOL_CLIENTS);
    resources.defer(() => pool.end());
    // As in production, reads are made as a role that may do nothing else.
    const db = resources.use(openReadDatabase(readUrl));
    const eventStore = resources.use(openEventStore(server.url));
    const readPosition = resources.use(openReadPosition(database.url, pool, log));
    return { pool, db, eventStore, readPosition };
  };
  const own = openProcess();
  await createAccessTables(own.pool);
  const secretVault = await openSecretVault(own.pool, VAULT_KEY);
  const alertChannels = resources.use(openAlertChannels({ allowLoopback: false }, EMAIL, systemClock));
  resources.use(followAccess(own.pool, own.eventStore, log));

  const projecting = new AbortController();
  const projector = runProjections({
    databaseUrl: database.url,
    eventStoreUrl: server.url,
    projections,
    log,
    signal: projecting.signal,
  });
  const stopProjector = async (): Promise<void> => {
    projecting.abort();
    await projector;
  };
  resources.defer(stopProjector);

  const operator = { ...own, actor: { kind: 'service', id: 'tests' } } as const;
  const projected = async (position: bigint): Promise<void> => {
    const names = projections.map((projection) => projection.name);
    if (!(await own.readPosition.wait(names, position, READY_TIMEOUT_MS)))
      throw new Error('not projected in time');
  };

  return {
    environment: {
      DATABASE_URL: database.url,
      EVENT_STORE_URL: server.url,
      NATS_URL: inject('natsUrl'),
    },
    pool: own.pool,
    eventStore: own.eventStore,
    readPosition: own.readPosition,
    nats,
    api: async (options = {}) => {
      const app = buildApi({
        ...openProcess(),
        nats: Promise.resolve(nats),
        baseUrl: BASE_URL,
        cursorSecret: 'a secret for tests only',
        downloadSecret: 'another secret for tests only',
        secretVault,
        alertChannels,
        objectStore: openFolderStore(join(tmpdir(), `test-objects-${process.pid}`)),
        clock: systemClock,
        log,
        ...options,
      });
      resources.defer(() => app.close());
      await app.ready();
      return app;
    },
    key: async ({ plan = 'pro', role = 'owner', scopes = 'all' } = {}) => {
      const name = randomUUID();
      const { workspace_id: workspaceId } = await createWorkspaceNamed(operator, name, plan);
      const { member_id: memberId } = await addMemberNamed(operator, workspaceId, 'Ada', role);
      const { key_id: keyId, api_key: text } = await issueKey(
        operator,
        workspaceId,
        memberId,
        'tests',
        scopes,
      );
      return { workspaceId, memberId, keyId, text };
    },
    revoke: async (key) => {
      await revokeKey(operator, key.workspaceId, key.keyId);
    },
    plan: async (key, plan) => {
      await setPlan(operator, key.workspaceId, plan);
    },
    seed: async (names) => {
      const { brands, position } = await seedCorpus(own.eventStore, names, Date.now());
      await projected(position);
      return brands;
    },
    projected,
    stopProjector,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
