import type { TableComparison, VerificationReport } from '#contracts/messages/projector.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { applyBatch, type Target } from '../apply/apply-batch.ts';
import { isLockTimeout } from '#application/read-models/failures.ts';
import { checksumOf, compareTable, readShapes } from './compare-tables.ts';
import {
  createTables,
  lockSchemas,
  readCatalog,
  schemaOf,
  verifySchemaOf,
} from '#application/read-models/schema.ts';
import type { Reading, SharedReader } from '../rebuild/shared-read.ts';
import { readExcludedEvents } from '../dead-letters/excluded-events.ts';

/** A verification that cannot give a result now; the request can be repeated. */
export class VerificationRefused extends Error {}

type LiveState = { readonly version: number; readonly position: bigint; readonly swapped: string };

const readLiveState = async (client: Database | Transaction, name: string): Promise<LiveState | null> => {
  const { rows } = await client.query<{ version: number; position: string; swapped: string }>(
    `select p.version, p.position::text, coalesce(b.finished_at::text, '') as swapped
     from projector.projection p left join projector.build b on b.name = p.name and b.state = 'done' where p.name = $1`,
    [name],
  );
  const [row] = rows;
  return row ? { ...row, position: BigInt(row.position) } : null;
};

/** Returns the connection to the pool, or closes it if it failed. */
const rollBack = async (client: Transaction): Promise<void> => {
  const broken = await client.query('rollback').then(
    () => undefined,
    (error: Error) => error,
  );
  client.release(broken);
};

/** While a reader, such as a backup, holds the tables, they stay until the next verification. */
const dropShadow = (database: Database, name: string): Promise<void> =>
  inTransaction(database, async (client) => {
    await lockSchemas(client);
    await client.query(`drop schema if exists "${verifySchemaOf(name)}" cascade`);
  }).catch((error: unknown) => {
    if (!isLockTimeout(error)) throw error;
  });

const openShadow = async (database: Database, projection: Projection): Promise<Target> => {
  const schema = verifySchemaOf(projection.name);
  await inTransaction(database, async (client) => {
    await lockSchemas(client);
    await createTables(client, projection, schema);
  });
  return {
    projection,
    schema,
    catalog: await readCatalog(database, schema),
    saveCheckpoint: () => Promise.resolve(),
  };
};

export type Verification = {
  readonly database: Database;
  readonly reader: SharedReader;
  /** Runs one comparison at a time: each holds a snapshot and two connections. */
  readonly comparisons: <T>(compare: () => Promise<T>) => Promise<T>;
  readonly projection: Projection;
  readonly signal: AbortSignal;
  readonly onEvents: (events: number) => void;
  readonly onComparing: () => Promise<unknown>;
};

/** Compares a replay in a shadow schema with a snapshot of the live tables. `database` proves the lease. */
export const verifyProjection = async (verification: Verification): Promise<VerificationReport> => {
  const { database, reader, comparisons, projection, signal, onEvents, onComparing } = verification;
  const { name, version } = projection;
  const before = await readLiveState(database, name);
  if (!before) throw new VerificationRefused('The projection has no tables yet. Start the projector first.');
  if (before.version !== version) {
    throw new VerificationRefused(
      `The tables have version ${before.version}, this code has version ${version}. Wait for the rebuild.`,
    );
  }
  let events = 0;
  const excluded = await readExcludedEvents(database, name);
  const target = await reader.prepare(() => openShadow(database, projection));
  const apply: Reading['apply'] = async (range, upTo) => {
    const applied = excluded.without(range);
    await applyBatch(database, target, applied, upTo);
    events += applied.length;
    onEvents(events);
  };
  const reading = { prefixes: projection.prefixes, signal, apply };
  try {
    // Replays most of the log first, so that the snapshot is held only briefly.
    const near = await reader.read({ ...reading, after: 0n, to: before.position });
    return await comparisons(async () => {
      signal.throwIfAborted();
      const live = await database.connect();
      const replayed = await database.connect();
      try {
        await live.query('begin isolation level repeatable read read only');
        // The snapshot is idle while the rest of the log is replayed.
        await live.query('set local idle_in_transaction_session_timeout = 0');
        const snapshot = await readLiveState(live, name);
        const shapes = await readShapes(live, schemaOf(name));
        const missing = await readExcludedEvents(live, name);
        if (!snapshot || !missing.isSame(excluded)) {
          throw new VerificationRefused(
            'Events were parked, retried or skipped during the verification. Verify again.',
          );
        }
        if (snapshot.position > near)
          await reader.readAlone({ ...reading, after: near, to: snapshot.position });
        await onComparing();
        await replayed.query('begin isolation level repeatable read read only');
        await replayed.query('set local idle_in_transaction_session_timeout = 0');
        const tables: TableComparison[] = [];
        for (const shape of shapes) {
          signal.throwIfAborted();
          const sum = await checksumOf(live, schemaOf(name), shape);
          const sides = [
            { client: live, schema: schemaOf(name) },
            { client: replayed, schema: target.schema },
          ] as const;
          tables.push(await compareTable(...sides, shape, sum));
        }
        const after = await readLiveState(database, name);
        if (after?.swapped !== before.swapped) {
          throw new VerificationRefused('The tables were swapped during the verification. Verify again.');
        }
        return { position: String(snapshot.position), facts: events, left_out: excluded.keys.size, tables };
      } finally {
        await Promise.all([rollBack(live), rollBack(replayed)]);
      }
    });
  } finally {
    await dropShadow(database, name);
  }
};
