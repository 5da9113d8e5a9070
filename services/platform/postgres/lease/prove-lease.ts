import type { Transaction } from '../pool.ts';

/** Work that one process at a time does. `part` is `all` while the work is not divided. */
export type LeaseName = { readonly kind: string; readonly part: string };

/** The part of work that is not divided. */
export const WHOLE = 'all';

/** A lease as it was granted. Its epoch is written with, or checked by, each write that it allows. */
export type Lease = LeaseName & {
  readonly epoch: bigint;
  /** Aborted when another process has taken the work over, or when Postgres did not answer for the length of a lease. */
  readonly lost: AbortSignal;
};

/** Thrown by a write whose process no longer holds the lease. Nothing is written, and the process gives the work up. */
export class LeaseLost extends Error {
  constructor({ kind, part }: LeaseName) {
    super(`another process has taken over ${kind} ${part}`);
    this.name = 'LeaseLost';
  }
}

/**
 * Proves at the end of a transaction that the lease is still held. The lock on its row makes a takeover wait until the
 * transaction has ended. Throws `LeaseLost` otherwise.
 */
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
