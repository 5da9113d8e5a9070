import type { TableComparison, VerificationReport } from '#contracts/messages/verification-report.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import type { Target } from '../apply/apply-batch.ts';
import { checksumOf, compareTable, readShapes } from './compare-tables.ts';
import { createTables, lockSchemas, readCatalog, schemaOf, verifySchemaOf } from '../read-model-schema.ts';
import { replay } from '../rebuild/replay.ts';
import { readMissing } from '../dead-letters/excluded-events.ts';

/** What kept a verification from an answer, and can be tried again. */
export class VerificationRefused extends Error {}

type Standing = { readonly version: number; readonly position: bigint; readonly swapped: string };

const readStanding = async (client: Database | Transaction, name: string): Promise<Standing | null> => {
  const { rows } = await client.query<{ version: number; position: string; swapped: string }>(
    `select p.version, p.position::text, coalesce(b.finished_at::text, '') as swapped
     from projector.projection p left join projector.build b on b.name = p.name and b.state = 'done' where p.name = $1`,
    [name],
  );
  const [row] = rows;
  return row ? { ...row, position: BigInt(row.position) } : null;
};

const dropShadow = (database: Database, name: string): Promise<void> =>
  inTransaction(database, async (client) => {
    await lockSchemas(client);
    await client.query(`drop schema if exists "${verifySchemaOf(name)}" cascade`);
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
  readonly eventStore: EventStore;
  readonly projection: Projection;
  readonly signal: AbortSignal;
  readonly onEvents: (events: number) => void;
  readonly onComparing: () => Promise<unknown>;
};

/**
 * Replays the log into a shadow and compares it with the live tables as one moment saw them, at the checkpoint of
 * that moment: the projector goes on meanwhile. Rows count, not their order.
 */
export const verifyProjection = async (verification: Verification): Promise<VerificationReport> => {
  const { database, eventStore, projection, signal, onEvents, onComparing } = verification;
  const { name, version } = projection;
  const before = await readStanding(database, name);
  if (!before) throw new VerificationRefused('There are no tables of it yet.');
  if (before.version !== version) {
    throw new VerificationRefused(
      `Its tables are of version ${before.version}, and this code is version ${version}.`,
    );
  }
  let events = 0;
  const onBatch = (applied: number): void => {
    events += applied;
    onEvents(events);
  };
  const leftOut = await readMissing(database, name);
  const target = await openShadow(database, projection);
  const live = await database.connect();
  const replayed = await database.connect();
  try {
    // Most of the log before the moment that is compared, so that this moment is not held for long.
    const near = await replay(database, eventStore, {
      target,
      after: 0n,
      to: before.position,
      leftOut,
      signal,
      onBatch,
    });
    await live.query('begin isolation level repeatable read read only');
    const moment = await readStanding(live, name);
    const shapes = await readShapes(live, schemaOf(name));
    const missing = await readMissing(live, name);
    if (!moment || !missing.isSame(leftOut)) {
      throw new VerificationRefused('Events were parked, retried or left out meanwhile. Verify again.');
    }
    if (moment.position > near) {
      await replay(database, eventStore, {
        target,
        after: near,
        to: moment.position,
        leftOut,
        signal,
        onBatch,
      });
    }
    await onComparing();
    await replayed.query('begin isolation level repeatable read read only');
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
    const after = await readStanding(database, name);
    if (after?.swapped !== before.swapped) {
      throw new VerificationRefused('Its tables were swapped meanwhile. Verify again.');
    }
    return { position: String(moment.position), facts: events, left_out: leftOut.keys.size, tables };
  } finally {
    await live.query('rollback').catch(() => undefined);
    await replayed.query('rollback').catch(() => undefined);
    live.release();
    replayed.release();
    await dropShadow(database, name);
  }
};
