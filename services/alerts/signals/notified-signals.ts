import type { Database, Transaction } from '#platform/postgres/pool.ts';

type Notified = { readonly alert_id: string; readonly signal_id: string };

const keyOf = ({ alert_id, signal_id }: Notified): string => `${alert_id} ${signal_id}`;

/** Answers for these rules and signals only. */
export const readNotified = async (
  database: Database,
  alertIds: readonly string[],
  signalIds: readonly string[],
): Promise<(alertId: string, signalId: string) => boolean> => {
  const { rows } = await database.query<Notified>({
    name: 'signals of which rules were notified',
    text: `select alert_id, signal_id from alerting.told_signal
           where alert_id = any($1::uuid[]) and signal_id = any($2::uuid[])`,
    values: [alertIds, signalIds],
  });
  const notified = new Set(rows.map(keyOf));
  return (alert_id, signal_id) => notified.has(keyOf({ alert_id, signal_id }));
};

/** Call it in the transaction that notifies. */
export const markNotified = async (client: Transaction, pairs: readonly Notified[]): Promise<void> => {
  if (pairs.length === 0) return;
  await client.query({
    name: 'mark rules as notified',
    text: `insert into alerting.told_signal (alert_id, signal_id) select * from unnest($1::uuid[], $2::uuid[])
           on conflict do nothing`,
    values: [pairs.map(({ alert_id }) => alert_id), pairs.map(({ signal_id }) => signal_id)],
  });
};
