import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiKeyRevoked, apiKeysStream } from '#contracts/events/workspace/workspace.ts';
import { eraseMember } from '#domain/workspace/workspace.ts';
import { startAccessSubscription } from '#application/access/access-subscription.ts';
import { createAccessTables } from '#application/access/access-tables.ts';
import { sha256Of } from '#application/access/key-format.ts';
import { type Caller, createKeyLeaseCache } from '#application/access/key-lease-cache.ts';
import { eventMetadata } from '#application/commands/command-handler.ts';
import { createWorkspaceCommands } from '#application/commands/workspace-commands.ts';
import type { ProjectionWait } from '#application/commands/projection-wait.ts';
import { type EventStore, openEventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase, type OpenReadDatabase } from '#platform/postgres/read-database.ts';
import {
  type OperatorDependencies,
  addPerson,
  createWorkspaceNamed,
  issueKey,
  revokeKey,
  runOnWorkspace,
} from '#services/ops/workspaces.ts';
import { createTestDatabase, createTestEventStore } from '#tests/stack/database.ts';

/** Reads may come from a node that follows the leader and lacks recent appends. */

const PATIENCE_MS = 30_000;
const actor = { kind: 'service', id: 'tests' } as const;
const projectionWait: ProjectionWait = {
  wait: async () => true,
  [Symbol.asyncDispose]: async () => undefined,
};

const resources = new AsyncDisposableStack();
let pool: ReturnType<typeof openPool>;
let db: OpenReadDatabase;
let eventStore: EventStore;

beforeAll(async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const server = await createTestEventStore();
  resources.defer(() => server.stop());
  pool = openPool(database.url, 4);
  resources.defer(() => pool.end());
  db = resources.use(openReadDatabase(database.url));
  eventStore = resources.use(openEventStore(server.url));
  await createAccessTables(pool);
});
afterAll(() => resources.disposeAsync());

/** Event store whose first `count` reads of each stream lack the last event. */
const laggingStore = (count: number): EventStore => {
  const reads = new Map<string, number>();
  return {
    ...eventStore,
    read: async function* <E>(stream: string, after?: bigint) {
      const before = reads.get(stream) ?? 0;
      reads.set(stream, before + 1);
      const events: unknown[] = [];
      for await (const event of eventStore.read(stream, after)) events.push(event);
      yield* (before < count ? events.slice(0, -1) : events) as E[];
    } as EventStore['read'],
  };
};

const operatorOn = (store: EventStore): OperatorDependencies => ({
  eventStore: store,
  workspaceCommands: createWorkspaceCommands({ eventStore: store, pool, projectionWait }),
  actor,
});

type Owner = {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly keyId: string;
  readonly text: string;
};

const createOwner = async (): Promise<Owner> => {
  const operator = operatorOn(eventStore);
  const { workspace_id: workspaceId } = await createWorkspaceNamed(operator, randomUUID(), 'pro');
  const { member_id: memberId } = await addPerson(
    { ...operator, memberVault: null },
    workspaceId,
    { name: 'Ada', email: null },
    'owner',
  );
  await addPerson({ ...operator, memberVault: null }, workspaceId, { name: 'Grace', email: null }, 'owner');
  const { key_id: keyId, api_key: text } = await issueKey(operator, workspaceId, memberId, 'tests', 'all');
  return { workspaceId, memberId, keyId, text };
};

/** Caller of a key, read past the cache of a process. */
const callerOf = async ({ text }: Owner): Promise<Caller | null> =>
  createKeyLeaseCache(db).find(sha256Of(text));

const at = new Date().toISOString();
const REVOKING = {
  'a revoked key': (operator: OperatorDependencies, { workspaceId, keyId }: Owner) =>
    revokeKey(operator, workspaceId, keyId),
  'an erased member': (operator: OperatorDependencies, { workspaceId, memberId }: Owner) =>
    runOnWorkspace(
      operator,
      workspaceId,
      eraseMember({ workspace_id: workspaceId, member_id: memberId, at }),
    ),
} as const;

describe.each(Object.entries(REVOKING))('%s', (_, revoke) => {
  test('has lost its rights when the command ends, although reads of the event store lag', async () => {
    const owner = await createOwner();
    expect(await callerOf(owner)).not.toBeNull();
    await revoke(operatorOn(laggingStore(3)), owner);
    expect(await callerOf(owner)).toBeNull();
  });
});

test('a revocation that the event store does not show in time ends with 503, and is applied later', {
  timeout: 2 * PATIENCE_MS,
}, async () => {
  const owner = await createOwner();
  const revoking = revokeKey(
    operatorOn(laggingStore(Number.POSITIVE_INFINITY)),
    owner.workspaceId,
    owner.keyId,
  );
  await expect(revoking).rejects.toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('is recorded'),
    retryAfterSeconds: expect.any(Number),
  });
  expect(await callerOf(owner)).not.toBeNull();
  await using following = startAccessSubscription(pool, eventStore, silentLog());
  await following.filled;
  await expect.poll(() => callerOf(owner), { timeout: PATIENCE_MS }).toBeNull();
});

test('the subscription applies an event that its reads show later than the log', {
  timeout: 2 * PATIENCE_MS,
}, async () => {
  const owner = await createOwner();
  const stream = apiKeysStream(owner.workspaceId);
  await using following = startAccessSubscription(pool, laggingStore(3), silentLog());
  await following.filled;
  const { revision } = (await eventStore.last(stream)) ?? { revision: -1n };
  const { workspaceId: workspace_id, keyId: key_id } = owner;
  const revoked: ApiKeyRevoked = {
    type: 'ApiKeyRevoked',
    data: { workspace_id, key_id, reason: 'revoked', revoked_at: at },
  };
  // As by a process that ends between the append and the tables.
  await eventStore.append(
    stream,
    revision,
    [revoked],
    eventMetadata({
      actor,
      correlationId: randomUUID(),
      causationId: randomUUID(),
      workspaceId: owner.workspaceId,
    }),
    randomUUID(),
  );
  await expect.poll(() => callerOf(owner), { timeout: PATIENCE_MS }).toBeNull();
});
