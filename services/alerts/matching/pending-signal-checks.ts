import { chunk } from 'es-toolkit/array/chunk';
import type { SignalCheck } from '#application/alerts/match-events.ts';
import type { ActivitySignal } from '#domain/workspace/alert/payload.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/** A check in the table; `alert_ids` are at most `RULES_PER_ROW`. */
export type StoredSignalCheck = SignalCheck & {
  /** Each row of a position has some of the rules. */
  readonly page: number;
  /** Failures since the last success. */
  readonly failures: number;
};

export type SignalSource = {
  /** Waits for a limited time. Returns whether the read model has reached the position. */
  shown(position: bigint): Promise<boolean>;
  list(brandId: string, date: string): Promise<readonly ActivitySignal[]>;
};

const RULES_PER_ROW = 500;
/** Each scan of a brand with thousands of rules adds a check of all, so the batch is committed at this number. */
const RULES_IN_MEMORY = 20_000;
const ROWS_PER_STATEMENT = 100;

/** Checks wait in their table, oldest first, in rows of at most `RULES_PER_ROW` rules. */
export type PendingSignalChecks = {
  add(check: SignalCheck): void;
  /** True when the batch must be committed before more is added. */
  isFull(): boolean;
  save(client: Transaction): Promise<void>;
  /** True once after checks were saved. */
  takeSaved(): boolean;
};

/**
 * Ids are one text, because Postgres takes no arrays of arrays of different lengths. Numbers rows on, since an event's
 * rules may be matched in several transactions.
 */
const INSERT = `
  insert into alerting.signal_look (position, page, brand_id, date, at, alert_ids)
  select row.position,
    coalesce((select max(page) + 1 from alerting.signal_look l where l.position = row.position), 0)
      + row_number() over (partition by row.position order by n) - 1,
    brand_id, date, at, string_to_array(alert_ids, ',')
  from unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[])
    with ordinality as row (position, brand_id, date, at, alert_ids, n)`;

const insert = async (client: Transaction, checks: readonly SignalCheck[]): Promise<void> => {
  const rows = checks.flatMap((check) =>
    chunk(check.alert_ids, RULES_PER_ROW).map((alert_ids) => ({ ...check, alert_ids })),
  );
  await Promise.all(
    chunk(rows, ROWS_PER_STATEMENT).map((some) =>
      client.query({
        name: 'add signal checks',
        text: INSERT,
        values: [
          some.map(({ position }) => position),
          some.map(({ brand_id }) => brand_id),
          some.map(({ date }) => date),
          some.map(({ at }) => at),
          some.map(({ alert_ids }) => alert_ids.join(',')),
        ],
      }),
    ),
  );
};

export const createPendingSignalChecks = (): PendingSignalChecks => {
  const added: SignalCheck[] = [];
  let rules = 0;
  let hasSaved = false;
  return {
    add: (check) => {
      added.push(check);
      rules += check.alert_ids.length;
    },
    isFull: () => rules >= RULES_IN_MEMORY,
    save: async (client) => {
      if (added.length === 0) return;
      await insert(client, added);
      hasSaved = true;
      added.length = 0;
      rules = 0;
    },
    takeSaved: () => {
      const taken = hasSaved;
      hasSaved = false;
      return taken;
    },
  };
};

/** `null` when no check is due. */
export const readNextCheck = async (database: Database): Promise<StoredSignalCheck | null> => {
  const { rows } = await database.query<Omit<StoredSignalCheck, 'position'> & { position: string }>({
    name: 'next signal check',
    text: `select position, page, brand_id, date, at, alert_ids, failures
           from alerting.signal_look where next_try_at <= now() order by position, page limit 1`,
  });
  const [row] = rows;
  return row ? { ...row, position: BigInt(row.position) } : null;
};

export const postponeCheck = async (
  database: Database,
  { position, page }: StoredSignalCheck,
  delayMs: number,
): Promise<void> => {
  await database.query(
    `update alerting.signal_look set failures = failures + 1, next_try_at = now() + make_interval(secs => $3)
     where position = $1 and page = $2`,
    [position, page, delayMs / 1_000],
  );
};

export const removeRules = async (
  client: Transaction,
  { position, page }: StoredSignalCheck,
  rules: number,
): Promise<void> => {
  await Promise.all([
    client.query(
      `update alerting.signal_look set alert_ids = alert_ids[$3::int + 1:], failures = 0, next_try_at = '-infinity'
       where position = $1 and page = $2`,
      [position, page, rules],
    ),
    client.query(`delete from alerting.signal_look where position = $1 and page = $2 and alert_ids = '{}'`, [
      position,
      page,
    ]),
  ]);
};

export const removeCheck = async (client: Transaction, { position }: SignalCheck): Promise<void> => {
  await client.query('delete from alerting.signal_look where position = $1', [position]);
};
