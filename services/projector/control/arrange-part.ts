import { type Lease, LeaseLost } from '#platform/postgres/lease/leases.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { BehindRow } from '../apply/running.ts';
import { PROJECTIONS } from './lease-names.ts';

/**
 * `alone`: reads with a row of its own, on probation. `exclusive`: a job uses the tables. `paused`: by an operator.
 * `apart`: the tables belong to other code.
 */
export type Treatment = 'follow' | 'alone' | 'exclusive' | 'paused' | 'apart';

const STATE: Readonly<Record<Treatment, string>> = {
  follow: 'catching_up',
  alone: 'catching_up',
  exclusive: 'catching_up',
  paused: 'paused',
  apart: 'apart',
};

/** `waitMs`: time until the next attempt; `null` when its last batch did not fail. */
export type StoredRow = BehindRow & { readonly state: string; readonly waitMs: number | null };
export type StoredRows = ReadonlyMap<string, StoredRow>;

export const readRows = async (client: Pick<Transaction, 'query'>): Promise<StoredRows> => {
  const { rows } = await client.query<{
    projection: string;
    position: string;
    epoch: string;
    state: string;
    wait_ms: number | null;
  }>(
    `select projection, position, epoch, state,
       case when next_try is not null then greatest(0, extract(epoch from next_try - now()) * 1000)::float8 end as wait_ms
     from projector.behind where part = $1`,
    [PROJECTIONS.part],
  );
  return new Map(
    rows.map(({ projection, position, epoch, state, wait_ms: waitMs }) => [
      projection,
      { position: BigInt(position), epoch: BigInt(epoch), state, waitMs },
    ]),
  );
};

/** Throws `LeaseLost` when another process has taken over the part. */
const lockCursor = async (client: Transaction, lease: Lease): Promise<bigint> => {
  const { rows } = await client.query<{ position: string }>(
    'select position from run.progress where kind = $1 and part = $2 and epoch = $3 for update',
    [PROJECTIONS.kind, PROJECTIONS.part, lease.epoch],
  );
  if (!rows[0]) throw new LeaseLost(lease);
  return BigInt(rows[0].position);
};

/** Projections that other processes follow under leases of their own. */
const readHeldApart = async (client: Transaction, owner: string): Promise<ReadonlySet<string>> => {
  const { rows } = await client.query<{ part: string }>(
    `select part from run.lease where kind = 'projection' and until > now() and owner <> $1`,
    [owner],
  );
  return new Set(rows.map(({ part }) => part));
};

const setRow = (client: Transaction, name: string, epoch: bigint, state: string): Promise<unknown> =>
  client.query(
    `update projector.behind set epoch = $3, state = $4, error = null, next_try = null
     where projection = $1 and part = $2`,
    [name, PROJECTIONS.part, epoch, state],
  );

/**
 * Gives a row to each projection that leaves the cursor, and merges those that return to it. Runs in one transaction,
 * so the cursor never passes a projection that has no row and no follower. Without a projection at the cursor, it moves
 * to the furthest one.
 */
export const arrangePart = (
  database: Database,
  lease: Lease,
  owner: string,
  treatments: ReadonlyMap<string, Treatment>,
): Promise<{ readonly position: bigint; readonly rows: StoredRows }> =>
  inTransaction(database, async (client) => {
    let position = await lockCursor(client, lease);
    const before = await readRows(client);
    const heldApart = await readHeldApart(client, owner);
    for (const [name, treatment] of treatments) {
      const row = before.get(name);
      const state = STATE[treatment];
      if (!row) {
        if (treatment === 'follow') continue;
        await client.query(
          'insert into projector.behind (projection, part, position, epoch, state) values ($1, $2, $3, $4, $5)',
          [name, PROJECTIONS.part, position, lease.epoch, state],
        );
      } else if (row.state === 'apart') {
        if (treatment !== 'apart' && !heldApart.has(name)) await setRow(client, name, lease.epoch, state);
      } else if (treatment === 'apart' || treatment === 'paused' || row.state === 'paused') {
        if (row.state !== state) await setRow(client, name, lease.epoch, state);
      }
    }
    const rows = await readRows(client);
    const followed = [...treatments].filter(([, treatment]) => treatment === 'follow').map(([name]) => name);
    const caughtUp = followed.flatMap((name) => {
      const row = rows.get(name);
      return row?.state === 'catching_up' && row.position >= position ? [{ name, at: row.position }] : [];
    });
    if (followed.every((name) => rows.has(name))) {
      position = caughtUp.reduce((high, { at }) => (at > high ? at : high), position);
      await client.query('update run.progress set position = $3 where kind = $1 and part = $2', [
        PROJECTIONS.kind,
        PROJECTIONS.part,
        position,
      ]);
    }
    const joining = caughtUp.filter(({ at }) => at === position).map(({ name }) => name);
    await client.query('delete from projector.behind where part = $1 and projection = any($2)', [
      PROJECTIONS.part,
      joining,
    ]);
    return { position, rows: await readRows(client) };
  });
