import type { ActivitySignal } from '#domain/workspace/alert/payload.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/**
 * A pending check of a brand's activity signals for one day, after a scan or a page link. Only for rules that fire
 * on activity.
 */
export type SignalCheck = {
  /** Position of the event that triggered the check. The signals read model must have passed it. */
  readonly position: bigint;
  readonly brand_id: string;
  readonly date: string;
  /** Recording time of that event. */
  readonly at: string;
  /** Ids of the rules that fired at that log position. */
  readonly alert_ids: readonly string[];
};

/** Read access to signals. */
export type SignalSource = {
  /** Waits for a limited time until the signals read model has reached the position. Returns whether it has. */
  shown(position: bigint): Promise<boolean>;
  /** Returns the activity signals of one brand and day. */
  list(brandId: string, date: string): Promise<readonly ActivitySignal[]>;
};

/** Pending signal checks, oldest first. Persisted, so a restart loses none. */
export type PendingSignalChecks = {
  add(check: SignalCheck): void;
  /** Returns the oldest check without removing it; `done` removes it. `null` when none is pending. */
  oldest(): SignalCheck | null;
  done(check: SignalCheck): void;
  save(client: Transaction): Promise<void>;
};

export const openPendingSignalChecks = async (database: Database): Promise<PendingSignalChecks> => {
  const { rows } = await database.query<Omit<SignalCheck, 'position'> & { position: string }>(
    'select position, brand_id, date, at, alert_ids from alerting.signal_look order by position',
  );
  const waiting: SignalCheck[] = rows.map((row) => ({ ...row, position: BigInt(row.position) }));
  const added: SignalCheck[] = [];
  const completed: SignalCheck[] = [];
  return {
    add: (check) => {
      waiting.push(check);
      added.push(check);
    },
    oldest: () => waiting[0] ?? null,
    done: (check) => {
      waiting.splice(waiting.indexOf(check), 1);
      completed.push(check);
    },
    save: async (client) => {
      for (const { position, brand_id, date, at, alert_ids } of added) {
        await client.query(
          `insert into alerting.signal_look (position, brand_id, date, at, alert_ids) values ($1, $2, $3, $4, $5)
           on conflict do nothing`,
          [position, brand_id, date, at, alert_ids],
        );
      }
      if (completed.length > 0) {
        await client.query('delete from alerting.signal_look where position = any($1::bigint[])', [
          completed.map(({ position }) => position),
        ]);
      }
      added.length = 0;
      completed.length = 0;
    },
  };
};

/** Returns the signals of which the rule was not notified yet, and marks them as notified. */
export const markNotified = async (
  client: Transaction,
  alertId: string,
  signalIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  const { rows } = await client.query<{ signal_id: string }>(
    `insert into alerting.told_signal (alert_id, signal_id) select $1::uuid, * from unnest($2::uuid[])
     on conflict do nothing returning signal_id`,
    [alertId, signalIds],
  );
  return new Set(rows.map(({ signal_id }) => signal_id));
};
