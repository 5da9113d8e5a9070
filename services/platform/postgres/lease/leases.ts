import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import { type Database, type Transaction, inTransaction, openPool } from '../pool.ts';
import { pause } from '../../clock.ts';
import { installSchema } from '../schema-installer.ts';

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

const SCHEMA = readFileSync(new URL('./schema.sql', import.meta.url), 'utf8');
export const LEASE_MS = 10_000;
const RENEW_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 5_000;
/** An open transaction of the former owner holds a takeover up; it is then tried again. */
const TAKEOVER_WAIT_MS = 3_000;
/** One connection is for renewals, one for a takeover that waits. */
const CLIENTS = 2;
const LOCK_NOT_AVAILABLE = '55P03';

const IDLE_TRANSACTION_LIMIT_MS = 5_000;
/** The server ends a transaction whose process was stopped in the middle, because a takeover waits for it. */
export const FENCED_CONNECTION = `-c idle_in_transaction_session_timeout=${IDLE_TRANSACTION_LIMIT_MS}`;

export const createRunTables = (database: Database): Promise<void> =>
  installSchema(database, { lock: ADVISORY_LOCKS.runSchema, sql: SCHEMA, fingerprintOn: 'run' });

/** SQL expression, null when no process holds the lease. `kind` and `part` are SQL expressions, too. */
export const leaseOwnerSql = (kind: string, part: string): string =>
  `(select l.owner from run.lease l where l.kind = ${kind} and l.part = ${part} and l.until > now())`;

/** Writes the epoch to the rows that prove it, in the transaction of the takeover. */
export type OnTakeover = (client: Transaction, epoch: bigint) => Promise<unknown>;

export type Leases = AsyncDisposable & {
  /** Process name for operators, also in `run.lease`. */
  readonly owner: string;
  /** Raises the epoch. `null` when a process holds the lease, or the former owner has an open transaction. */
  acquire(name: LeaseName, onTakeover?: OnTakeover): Promise<Lease | null>;
  /** Throws `LeaseLost`, or the error of Postgres when it does not answer. */
  prove(lease: Lease): Promise<void>;
  /** Another process may take the lease at once. */
  release(lease: Lease): Promise<void>;
  isHeld(name: LeaseName): Promise<boolean>;
};

type Held = {
  readonly lease: Lease;
  readonly losing: AbortController;
  /** Milliseconds of the clock of `performance`. */
  renewedAtMs: number;
};

const keyOf = ({ kind, part }: LeaseName): string => `${kind} ${part}`;

/**
 * A failover can lose a takeover. A random step keeps the next epoch from reaching that of the lost owner, whose
 * writes would be valid again.
 */
const EPOCH_STEP_MAX = 1_000_000;
const STEP = `(1 + floor(random() * ${EPOCH_STEP_MAX}))::bigint`;
const TAKE = `
  insert into run.lease as l (kind, part, owner, epoch, until)
  values ($1, $2, $3, ${STEP}, clock_timestamp() + make_interval(secs => $4))
  on conflict (kind, part) do update set owner = excluded.owner, epoch = l.epoch + ${STEP}, until = excluded.until
  where l.until <= clock_timestamp()
  returning epoch`;
const RENEW = `
  update run.lease l set until = clock_timestamp() + make_interval(secs => $1)
  from unnest($2::text[], $3::text[], $4::bigint[]) i(kind, part, epoch)
  where l.kind = i.kind and l.part = i.part and l.epoch = i.epoch returning l.kind, l.part`;

const take = async (
  client: Transaction,
  name: LeaseName,
  owner: string,
  onTakeover: OnTakeover | undefined,
): Promise<bigint | null> => {
  await client.query(`set local lock_timeout = ${TAKEOVER_WAIT_MS}`);
  const { kind, part } = name;
  const { rows } = await client.query<{ epoch: string }>(TAKE, [kind, part, owner, LEASE_MS / 1_000]);
  if (!rows[0]) return null;
  const epoch = BigInt(rows[0].epoch);
  await client.query('update run.progress set epoch = $3 where kind = $1 and part = $2', [kind, part, epoch]);
  await onTakeover?.(client, epoch);
  return epoch;
};

/** Names a process uniquely, also after a restart. */
const createProcessId = (): string => `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;

export const openLeases = async (databaseUrl: string): Promise<Leases> => {
  await using resources = new AsyncDisposableStack();
  const database = openPool(databaseUrl, CLIENTS, {
    application_name: 'leases',
    statement_timeout: STATEMENT_TIMEOUT_MS,
    options: FENCED_CONNECTION,
  });
  resources.defer(() => database.end());
  await createRunTables(database);
  const owner = createProcessId();
  const held = new Map<string, Held>();
  const ending = new AbortController();

  const lose = (one: Held): void => {
    if (held.get(keyOf(one.lease)) === one) held.delete(keyOf(one.lease));
    one.losing.abort();
  };

  const renew = async (): Promise<void> => {
    const all = [...held.values()];
    if (all.length === 0) return;
    const sentAtMs = performance.now();
    try {
      const { rows } = await database.query<LeaseName>({
        name: 'renew leases',
        text: RENEW,
        values: [
          LEASE_MS / 1_000,
          all.map(({ lease }) => lease.kind),
          all.map(({ lease }) => lease.part),
          all.map(({ lease }) => lease.epoch),
        ],
      });
      const renewed = new Set(rows.map(keyOf));
      for (const one of all) {
        if (renewed.has(keyOf(one.lease))) one.renewedAtMs = sentAtMs;
        else lose(one);
      }
    } catch {
      for (const one of all) if (performance.now() - one.renewedAtMs > LEASE_MS) lose(one);
    }
  };

  const renewing = (async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await pause(RENEW_MS, ending.signal);
      if (!ending.signal.aborted) await renew();
    }
  })();

  const isHeld = async ({ kind, part }: LeaseName): Promise<boolean> => {
    const { rows } = await database.query<{ owner: string | null }>({
      name: 'look at a lease',
      text: `select ${leaseOwnerSql('$1', '$2')} as owner`,
      values: [kind, part],
    });
    return rows[0]?.owner != null;
  };

  const release = async (lease: Lease): Promise<void> => {
    const one = held.get(keyOf(lease));
    if (one?.lease === lease) held.delete(keyOf(lease));
    const { kind, part, epoch } = lease;
    await database.query(
      'update run.lease set until = clock_timestamp() where kind = $1 and part = $2 and epoch = $3',
      [kind, part, epoch],
    );
  };

  resources.defer(async () => {
    ending.abort();
    await renewing;
    for (const { lease } of held.values()) await release(lease).catch(() => undefined);
  });
  const opened = resources.move();
  return {
    owner,
    isHeld,
    prove: (lease) => proveLease(database, lease),
    release,
    acquire: async (name, onTakeover) => {
      // Standbys ask all the time, and a look costs less than a transaction.
      if (await isHeld(name)) return null;
      const startedAtMs = performance.now();
      try {
        const epoch = await inTransaction(database, (client) => take(client, name, owner, onTakeover));
        if (epoch === null) return null;
        const losing = new AbortController();
        const lease = { ...name, epoch, lost: losing.signal };
        held.set(keyOf(name), { lease, losing, renewedAtMs: startedAtMs });
        return lease;
      } catch (error) {
        if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return null;
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
};
