import { type DayCount, type DayCounts, openDayCounts } from '#application/alerts/limits.ts';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/** A later day than the event's is counted where quiet hours end on it, or its digest is due. */
const KEPT_DAYS = 3;

/** Counts at the checkpoint, in their table. Memory holds those of one transaction. */
export type StoredDayCounts = DayCounts & {
  /** Needed before rules with a daily maximum are counted. */
  load(rules: readonly AlertRule[]): Promise<void>;
  save(client: Transaction): Promise<void>;
};

type DayRow = {
  readonly alert_id: string;
  readonly day: string;
  readonly messages: number;
  readonly is_over: boolean;
};

export const openStoredDayCounts = (database: Database): StoredDayCounts => {
  const known = new Map<string, DayCount>();
  const loaded = new Set<string>();
  const changed = new Map<string, DayRow>();
  const counts = openDayCounts(known);
  return {
    get: (alertId, day) => counts.get(alertId, day),
    set: (alert_id, day, count) => {
      counts.set(alert_id, day, count);
      changed.set(`${alert_id} ${day}`, { alert_id, day, messages: count.messages, is_over: count.isOver });
    },
    load: async (rules) => {
      const limited = rules.filter(({ max_per_day }) => max_per_day).map(({ alert_id }) => alert_id);
      const unknown = [...new Set(limited)].filter((alertId) => !loaded.has(alertId));
      if (unknown.length === 0) return;
      const { rows } = await database.query<DayRow>({
        name: 'messages of days',
        text: 'select alert_id, day, messages, is_over from alerting.day_count where alert_id = any($1::uuid[])',
        values: [unknown],
      });
      for (const { alert_id, day, messages, is_over } of rows)
        counts.set(alert_id, day, { messages, isOver: is_over });
      for (const alertId of unknown) loaded.add(alertId);
    },
    save: async (client) => {
      const rows = [...changed.values()];
      changed.clear();
      known.clear();
      loaded.clear();
      const newest = rows.reduce((day, row) => (row.day > day ? row.day : day), '');
      if (newest === '') return;
      await client.query({
        name: 'keep messages of days',
        text: `insert into alerting.day_count (alert_id, day, messages, is_over)
               select * from unnest($1::uuid[], $2::text[], $3::int[], $4::boolean[])
               on conflict (alert_id, day) do update set messages = excluded.messages, is_over = excluded.is_over`,
        values: [
          rows.map(({ alert_id }) => alert_id),
          rows.map(({ day }) => day),
          rows.map(({ messages }) => messages),
          rows.map(({ is_over }) => is_over),
        ],
      });
      await client.query('delete from alerting.day_count where day < $1', [
        utcDateOfMs(Date.parse(newest) - KEPT_DAYS * DAY_MS),
      ]);
    },
  };
};
