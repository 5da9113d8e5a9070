import type { ActivitySignal } from '#domain/workspace/alert/payload.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/** A scan or link after which the signals of a brand's day are looked at, for rules that fire on activity. */
export type SignalLook = {
  /** Of the event that closed the scan, or that linked a page; the signals must show it. */
  readonly position: bigint;
  readonly brand_id: string;
  readonly date: string;
  /** When it was recorded. */
  readonly at: string;
  /** The rules as they stood there. */
  readonly alert_ids: readonly string[];
};

/** Where signals are read from. */
export type SignalSource = {
  /** Waits, for a while at most, until the signals show what was recorded up to here. */
  shown(position: bigint): Promise<boolean>;
  /** Of activity, of one brand and day. */
  list(brandId: string, date: string): Promise<readonly ActivitySignal[]>;
};

/** Looks that wait for the signals, oldest first; kept in the table, so that none is lost with this process. */
export type SignalLooks = {
  add(look: SignalLook): void;
  /** Taken away again by `done`. */
  oldest(): SignalLook | null;
  done(look: SignalLook): void;
  save(client: Transaction): Promise<void>;
};

export const openSignalLooks = async (database: Database): Promise<SignalLooks> => {
  const { rows } = await database.query<Omit<SignalLook, 'position'> & { position: string }>(
    'select position, brand_id, date, at, alert_ids from alerting.signal_look order by position',
  );
  const waiting: SignalLook[] = rows.map((row) => ({ ...row, position: BigInt(row.position) }));
  const added: SignalLook[] = [];
  const gone: SignalLook[] = [];
  return {
    add: (look) => {
      waiting.push(look);
      added.push(look);
    },
    oldest: () => waiting[0] ?? null,
    done: (look) => {
      waiting.splice(waiting.indexOf(look), 1);
      gone.push(look);
    },
    save: async (client) => {
      for (const { position, brand_id, date, at, alert_ids } of added) {
        await client.query(
          `insert into alerting.signal_look (position, brand_id, date, at, alert_ids) values ($1, $2, $3, $4, $5)
           on conflict do nothing`,
          [position, brand_id, date, at, alert_ids],
        );
      }
      if (gone.length > 0) {
        await client.query('delete from alerting.signal_look where position = any($1::bigint[])', [
          gone.map(({ position }) => position),
        ]);
      }
      added.length = 0;
      gone.length = 0;
    },
  };
};

/** Of these signals, those that the rule was not told of yet; they are remembered as told. */
export const notYetTold = async (
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
