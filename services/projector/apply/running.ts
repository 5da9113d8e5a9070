import { LeaseLost } from '#platform/postgres/lease/leases.ts';
import type { Transaction } from '#platform/postgres/pool.ts';
import { PROJECTIONS } from '../control/lease-names.ts';
import type { Probation } from '../control/probation.ts';
import type { Target } from './apply-batch.ts';
import type { ParkedStreams } from './park-stream.ts';

/** Shared position of all projections without a row of their own. */
export type Cursor = { readonly epoch: bigint; position: bigint };

export type BehindRow = { readonly position: bigint; readonly epoch: bigint };

export type Running = {
  readonly target: Target;
  readonly prefixes: readonly string[];
  readonly parked: ParkedStreams;
  /** Every event up to here is applied or parked. The stored position may be lower. */
  position: bigint;
  row: BehindRow | null;
  failures: number;
  retryAtMs: number;
  /** Probation since the last failure; `null` when this session has seen none. */
  probation: Probation | null;
  /** Uses a subscription and longer timeouts of its own, after a failure or on probation. */
  readsAlone: boolean;
  live: boolean;
};

export const nameOf = ({ target }: Running): string => target.projection.name;

/** Throws unless this process holds the lease and the position. */
export const proveRunning = async (
  client: Pick<Transaction, 'query'>,
  name: string,
  row: BehindRow | null,
  cursor: Cursor | null,
): Promise<void> => {
  const { rowCount } =
    row === null
      ? await client.query({
          name: 'prove the cursor',
          text: 'select from run.progress where kind = $1 and part = $2 and position = $3 and epoch = $4 for share',
          values: [PROJECTIONS.kind, PROJECTIONS.part, cursor?.position, cursor?.epoch],
        })
      : await client.query({
          name: 'prove a row',
          text: `select from projector.behind
                 where projection = $1 and part = $2 and position = $3 and epoch = $4 for share`,
          values: [name, PROJECTIONS.part, row.position, row.epoch],
        });
  if (rowCount !== 1) throw new LeaseLost({ kind: 'projection', part: name });
};

/** A projection at the cursor gets its own row when it commits; the cursor follows once all have committed. */
const LEAVE_CURSOR = `
  insert into projector.behind (projection, part, position, epoch, state)
  select $1, p.part, $2, p.epoch, 'catching_up' from run.progress p
  where p.kind = '${PROJECTIONS.kind}' and p.part = '${PROJECTIONS.part}' and p.position = $3 and p.epoch = $4 for share
  on conflict do nothing`;
const MOVE_ROW = `
  update projector.behind set position = $2, error = null, next_try = null,
    state = case when state = 'apart' then state else 'catching_up' end
  where projection = $1 and part = '${PROJECTIONS.part}' and position = $3 and epoch = $4`;

/** Target whose checkpoint is its own row. Throws `LeaseLost` when another process moved it. */
export const ownTarget = (one: Running, cursor: Cursor | null): Target => ({
  ...one.target,
  saveCheckpoint: async (client, position, events) => {
    const name = nameOf(one);
    const { row } = one;
    const { rowCount } = await client.query(
      row === null
        ? {
            name: 'leave the cursor',
            text: LEAVE_CURSOR,
            values: [name, position, cursor?.position, cursor?.epoch],
          }
        : { name: 'move a row', text: MOVE_ROW, values: [name, position, row.position, row.epoch] },
    );
    if (rowCount !== 1) throw new LeaseLost({ kind: 'projection', part: name });
    await one.target.saveCheckpoint(client, position, events);
    // The last statement before the commit. If the commit fails, the session ends and the row is read again.
    one.row = { position, epoch: row?.epoch ?? cursor?.epoch ?? 0n };
  },
});
