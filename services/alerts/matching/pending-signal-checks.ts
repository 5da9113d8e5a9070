import { chunk } from 'es-toolkit/array/chunk';
import type { ActivitySignal } from '#domain/workspace/alert/payload.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/**
 * A pending check of a brand's activity signals for one day, after a scan or a page link. Only for rules that fire
 * on activity.
 */
export type NewSignalCheck = {
  /** Position of the event that triggered the check. The signals read model must have passed it. */
  readonly position: bigint;
  readonly brand_id: string;
  readonly date: string;
  /** Recording time of that event. */
  readonly at: string;
  /** Ids of the rules that fired at that log position. */
  readonly alert_ids: readonly string[];
};

/** A stored check. `alert_ids` are at most `RULES_PER_ROW` rules, the first ones of its row. */
export type SignalCheck = NewSignalCheck & {
  /** Number of the row among those of the position. Each has some of the rules. */
  readonly page: number;
  /** Attempts that failed since the last one that did not. */
  readonly failures: number;
};

/** Read access to signals. */
export type SignalSource = {
  /** Waits for a limited time until the signals read model has reached the position. Returns whether it has. */
  shown(position: bigint): Promise<boolean>;
  /** Returns the activity signals of one brand and day. */
  list(brandId: string, date: string): Promise<readonly ActivitySignal[]>;
};

/** Maximum rules of one row. Older releases stored more. */
const RULES_PER_ROW = 500;
/**
 * Maximum rules of the new checks of a batch in memory. A brand can have thousands of rules, and each of its scans adds a
 * check of all. The batch is committed when there are as many.
 */
const RULES_IN_MEMORY = 20_000;
/** Maximum rows of one statement. */
const ROWS_PER_STATEMENT = 100;

/** Signal checks of a batch. They wait in their table, oldest first, in rows of at most `RULES_PER_ROW` rules. */
export type PendingSignalChecks = {
  add(check: NewSignalCheck): void;
  /** True when the batch must be committed before more is added. */
  isFull(): boolean;
  /** Writes the checks that were added since the last save. */
  save(client: Transaction): Promise<void>;
};

/**
 * The ids are one text: Postgres does not take arrays of arrays of different lengths. Rows of an event are numbered on, since its
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

const insert = async (client: Transaction, checks: readonly NewSignalCheck[]): Promise<void> => {
  const rows = checks.flatMap((check) =>
    chunk(check.alert_ids, RULES_PER_ROW).map((alert_ids) => ({ ...check, alert_ids })),
  );
  for (const some of chunk(rows, ROWS_PER_STATEMENT)) {
    await client.query({
      name: 'add signal checks',
      text: INSERT,
      values: [
        some.map(({ position }) => position),
        some.map(({ brand_id }) => brand_id),
        some.map(({ date }) => date),
        some.map(({ at }) => at),
        some.map(({ alert_ids }) => alert_ids.join(',')),
      ],
    });
  }
};

export const createPendingSignalChecks = (): PendingSignalChecks => {
  const added: NewSignalCheck[] = [];
  let rules = 0;
  return {
    add: (check) => {
      added.push(check);
      rules += check.alert_ids.length;
    },
    isFull: () => rules >= RULES_IN_MEMORY,
    save: async (client) => {
      await insert(client, added);
      added.length = 0;
      rules = 0;
    },
  };
};

/** Returns the oldest check that is due, with the first rules of its row. `null` when none is. */
export const readNextCheck = async (database: Database): Promise<SignalCheck | null> => {
  const { rows } = await database.query<Omit<SignalCheck, 'position'> & { position: string }>({
    name: 'next signal check',
    text: `select position, page, brand_id, date, at, alert_ids[1:${RULES_PER_ROW}] as alert_ids, failures
           from alerting.signal_look where next_try_at <= now() order by position, page limit 1`,
  });
  const [row] = rows;
  return row ? { ...row, position: BigInt(row.position) } : null;
};

/** Delays the next attempt of a check that failed. */
export const postponeCheck = async (
  database: Database,
  { position, page }: SignalCheck,
  delayMs: number,
): Promise<void> => {
  await database.query(
    `update alerting.signal_look set failures = failures + 1, next_try_at = now() + make_interval(secs => $3)
     where position = $1 and page = $2`,
    [position, page, delayMs / 1_000],
  );
};

/** Removes the first rules of a check's row, and the row when it has no more. */
export const removeRules = async (
  client: Transaction,
  { position, page }: SignalCheck,
  rules: number,
): Promise<void> => {
  await client.query(
    `update alerting.signal_look set alert_ids = alert_ids[$3::int + 1:], failures = 0, next_try_at = '-infinity'
     where position = $1 and page = $2`,
    [position, page, rules],
  );
  await client.query(
    `delete from alerting.signal_look where position = $1 and page = $2 and alert_ids = '{}'`,
    [position, page],
  );
};

/** Removes a check whose brand and day have no signals, with all its rows. */
export const removeCheck = async (client: Transaction, { position }: SignalCheck): Promise<void> => {
  await client.query('delete from alerting.signal_look where position = $1', [position]);
};
