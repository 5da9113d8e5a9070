import type { Transaction } from '../pool.ts';

/** `part` is `all` while the work is not divided. */
export type LeaseName = { readonly kind: string; readonly part: string };

export const WHOLE = 'all';

/** Each write that the lease allows writes or checks its epoch. */
export type Lease = LeaseName & {
  readonly epoch: bigint;
  /** Aborted by a takeover, or without an answer of Postgres for the length of a lease. */
  readonly lost: AbortSignal;
};

/** Thrown when another process may hold the lease. Nothing is written, and this process stops the work. */
export class LeaseLost extends Error {
  constructor({ kind, part }: LeaseName) {
    super(`another process has taken over ${kind} ${part}`);
    this.name = 'LeaseLost';
  }
}

/** Locks the row, so that a takeover waits for the end of this transaction. Throws `LeaseLost`. */
export const proveLease = async (
  client: Pick<Transaction, 'query'>,
  { kind, part, epoch }: Omit<Lease, 'lost'>,
): Promise<void> => {
  const { rowCount } = await client.query({
    name: 'prove a lease',
    text: 'select from run.lease where kind = $1 and part = $2 and epoch = $3 for share',
    values: [kind, part, epoch],
  });
  if (rowCount !== 1) throw new LeaseLost({ kind, part });
};
