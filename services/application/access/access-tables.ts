import DataLoader from 'dataloader';
import { readFileSync } from 'node:fs';
import type { ConnectionEvent } from '#contracts/events/workspace/connection.ts';
import type { ApiKeyEvent, ApiKeyIssued, WorkspaceEvent } from '#contracts/events/workspace/workspace.ts';
import { requireReadable } from '#contracts/events/schema-registry.ts';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, type Transaction, inTransaction } from '#platform/postgres/pool.ts';
import { pause } from '#platform/clock.ts';
import { timeLeft } from '#platform/concurrency/time-budget.ts';

export type AccessEvent = WorkspaceEvent | ApiKeyEvent | ConnectionEvent;

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');

export const createAccessTables = (pool: Database): Promise<void> =>
  installSchema(pool, { lock: ADVISORY_LOCKS.accessSchema, sql: SCHEMA, fingerprintOn: 'access' });

const apply = async (client: Transaction, event: AccessEvent): Promise<void> => {
  switch (event.type) {
    case 'WorkspaceCreated':
    case 'PlanChanged': {
      const { workspace_id, plan } = event.data;
      await client.query(
        `insert into access.workspace (workspace_id, plan) values ($1, $2)
         on conflict (workspace_id) do update set plan = excluded.plan`,
        [workspace_id, plan],
      );
      return;
    }
    case 'MemberAdded':
    case 'MemberRoleChanged': {
      const { workspace_id, member_id, role } = event.data;
      await client.query(
        `insert into access.member (workspace_id, member_id, role) values ($1, $2, $3)
         on conflict (workspace_id, member_id) do update set role = excluded.role`,
        [workspace_id, member_id, role],
      );
      return;
    }
    case 'MemberErased': {
      // The member's keys stay in `api_key`, but the join with `member` finds no row, so they are rejected.
      const { workspace_id, member_id } = event.data;
      await client.query('delete from access.member where workspace_id = $1 and member_id = $2', [
        workspace_id,
        member_id,
      ]);
      return;
    }
    case 'ApiKeyIssued': {
      const { sha256, key_id, workspace_id, member_id, scopes } = event.data;
      await client.query(
        `insert into access.api_key (sha256, key_id, workspace_id, member_id, scopes)
         values ($1, $2, $3, $4, $5) on conflict do nothing`,
        [sha256, key_id, workspace_id, member_id, scopes],
      );
      return;
    }
    case 'ApiKeyRevoked': {
      const { workspace_id, key_id } = event.data;
      await client.query('update access.api_key set revoked = true where workspace_id = $1 and key_id = $2', [
        workspace_id,
        key_id,
      ]);
      return;
    }
    case 'AppAllowed': {
      const {
        connection_id,
        workspace_id,
        member_id,
        client: app,
        scopes,
        allowed_at,
        expires_at,
      } = event.data;
      await client.query(
        `insert into access.connection
           (connection_id, workspace_id, member_id, app, scopes, allowed_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
        [connection_id, workspace_id, member_id, JSON.stringify(app), scopes, allowed_at, expires_at],
      );
      return;
    }
    case 'AppDisconnected': {
      const { workspace_id, connection_id } = event.data;
      await client.query(
        'update access.connection set ended = true where workspace_id = $1 and connection_id = $2',
        [workspace_id, connection_id],
      );
      return;
    }
    case 'AppConnected': {
      const { workspace_id, connection_id } = event.data;
      await client.query(
        'update access.connection set connected = true where workspace_id = $1 and connection_id = $2',
        [workspace_id, connection_id],
      );
      return;
    }
    case 'AppDenied':
      return;
  }
};

/**
 * Applies a stream in order under its row lock, so that two writers cannot overtake each other. Returns the last
 * applied revision, which may be earlier than the last recorded one (`applyRecorded`); -1n for an empty stream.
 */
export const applyStream = (
  pool: Database,
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
): Promise<bigint> =>
  inTransaction(pool, async (client) => {
    await client.query(
      'insert into access.stream (stream, revision) values ($1, -1) on conflict do nothing',
      [stream],
    );
    const { rows } = await client.query<{ revision: string }>(
      'select revision from access.stream where stream = $1 for update',
      [stream],
    );
    const known = BigInt(rows[0]?.revision ?? -1);
    let revision = known;
    for await (const event of eventStore.read<AccessEvent>(stream, known)) {
      await apply(client, requireReadable(event));
      revision = event.revision;
    }
    if (revision > known) {
      await client.query('update access.stream set revision = $2 where stream = $1', [
        stream,
        revision.toString(),
      ]);
    }
    return revision;
  });

/**
 * Applies issued keys in one statement, and leaves out streams with missing revisions. `skip locked` leaves out
 * streams that another process updates; rows are inserted in stream order, so inserts cannot deadlock. The commit is
 * asynchronous: after a power cut the access subscription applies the keys again.
 */
const FOLD_ISSUED_KEYS = `
  with unhurried as (select set_config('synchronous_commit', 'off', true)),
  issued as (
    select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
      as issued(stream, revision, sha256, key_id, workspace_id, member_id, scopes)),
  span as (
    select stream, min(revision) as first, max(revision) as last from issued
    group by stream having count(*) = max(revision) - min(revision) + 1),
  free as (
    select stream, revision from access.stream, unhurried where stream = any($1::text[]) for update of stream skip locked),
  moved as (
    update access.stream set revision = span.last
    from span join free using (stream)
    where stream.stream = span.stream and free.revision = span.first - 1
    returning stream.stream),
  begun as (
    insert into access.stream (stream, revision) select stream, last from span, unhurried where first = 0 order by stream
    on conflict do nothing returning stream),
  folded as (select stream from moved union all select stream from begun),
  key as (
    insert into access.api_key (sha256, key_id, workspace_id, member_id, scopes)
    select sha256, key_id, workspace_id, member_id, string_to_array(scopes, ' ') from issued join folded using (stream)
    on conflict do nothing)
  select stream from folded`;

type IssuedKey = { readonly stream: string; readonly revision: bigint; readonly data: ApiKeyIssued['data'] };

const applyIssuedKeys = async (pool: Database, issued: readonly IssuedKey[]): Promise<readonly boolean[]> => {
  const { rows } = await pool.query<{ stream: string }>({
    name: 'access_fold_issued_keys',
    text: FOLD_ISSUED_KEYS,
    values: [
      issued.map(({ stream }) => stream),
      issued.map(({ revision }) => revision.toString()),
      issued.map(({ data }) => data.sha256),
      issued.map(({ data }) => data.key_id),
      issued.map(({ data }) => data.workspace_id),
      issued.map(({ data }) => data.member_id),
      issued.map(({ data }) => data.scopes.join(' ')),
    ],
  });
  const moved = new Set(rows.map(({ stream }) => stream));
  return issued.map(({ stream }) => moved.has(stream));
};

const FOLDED_TOGETHER_MAX = 200;
/** Keys appended while a batch is written go into the next batch. */
const foldsOf = new WeakMap<Database, DataLoader<IssuedKey, boolean>>();
const foldsOn = (pool: Database): DataLoader<IssuedKey, boolean> => {
  let folding: Promise<unknown> = Promise.resolve();
  const fold = (issued: readonly IssuedKey[]): Promise<readonly boolean[]> => {
    const folded = applyIssuedKeys(pool, issued);
    folding = folded.catch(() => undefined);
    return folded;
  };
  return new DataLoader(fold, {
    cache: false,
    maxBatchSize: FOLDED_TOGETHER_MAX,
    batchScheduleFn: (begin) => void folding.then(() => setImmediate(begin)),
  });
};

/**
 * Applies a key that was just issued at `revision` without reading it back. Returns false, with no change, when an
 * earlier event is not applied or another process updates the stream. Call `applyRecorded` then.
 */
export const applyIssuedKey = (
  pool: Database,
  stream: string,
  { data }: ApiKeyIssued,
  revision: bigint,
): Promise<boolean> => {
  const folds = foldsOf.get(pool) ?? foldsOn(pool);
  foldsOf.set(pool, folds);
  return folds.load({ stream, revision, data });
};

/** A key that was just issued may be missing. */
export const readKnownKeys = async (
  pool: Database,
  workspaceId: string,
  keyIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (keyIds.length === 0) return new Set();
  const { rows } = await pool.query<{ key_id: string }>(
    'select key_id from access.api_key where workspace_id = $1 and key_id = any($2::text[])',
    [workspaceId, keyIds],
  );
  return new Set(rows.map(({ key_id }) => key_id));
};

/** Streams that were never applied are left out. */
export const readAppliedRevisions = async (
  pool: Database,
  streams: readonly string[],
): Promise<ReadonlyMap<string, bigint>> => {
  const { rows } = await pool.query<{ stream: string; revision: string }>(
    'select stream, revision from access.stream where stream = any($1::text[])',
    [streams],
  );
  return new Map(rows.map(({ stream, revision }) => [stream, BigInt(revision)]));
};

/** `null` when no checkpoint is stored yet. */
export const readAccessCheckpoint = async (pool: Database): Promise<bigint | null> => {
  const { rows } = await pool.query<{ position: string }>('select position from access.checkpoint');
  return rows[0] ? BigInt(rows[0].position) : null;
};

/**
 * Moves the checkpoint, never backwards. Returns false when it is missing or before `from`: the tables were emptied,
 * and the caller must read the checkpoint again.
 */
export const moveAccessCheckpoint = async (
  pool: Database,
  from: bigint | null,
  to: bigint,
): Promise<boolean> => {
  const moved = await pool.query(
    from === null
      ? `insert into access.checkpoint (position) values ($1)
         on conflict (single_row) do update set position = greatest(checkpoint.position, excluded.position)`
      : 'update access.checkpoint set position = greatest(position, $1) where position >= $2',
    from === null ? [to.toString()] : [to.toString(), from.toString()],
  );
  return moved.rowCount === 1;
};

/** The event store may lag behind its own appends: reads may come from a node that follows the leader. */
const APPLY_WAIT_MS = 5_000;
const READ_AGAIN_MS = 50;

/** Applies a stream at least up to a recorded revision. Returns false when that was not shown in time. */
export const applyRecorded = async (
  pool: Database,
  eventStore: Pick<EventStore, 'read'>,
  stream: string,
  revision: bigint,
): Promise<boolean> => {
  const until = performance.now() + timeLeft(APPLY_WAIT_MS);
  for (;;) {
    if ((await applyStream(pool, eventStore, stream)) >= revision) return true;
    if (performance.now() >= until) return false;
    await pause(READ_AGAIN_MS);
  }
};
