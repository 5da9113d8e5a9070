import type { Transaction } from '#platform/postgres/pool.ts';
import { enqueue, holdBack, type NewDelivery } from '../enqueue.ts';
import { endpointOf } from '../target.ts';

/** Per rule and endpoint. Further instant alerts are held back, and sent as one message when fewer wait. */
export const WAITING_MAX = 10_000;

/** Order holds: while alerts are held back, newer ones are too. */
const FULL = `
  select w.alert_id, w.endpoint from unnest($1::uuid[], $2::text[]) w (alert_id, endpoint)
  where exists (select from delivery.held h where h.alert_id = w.alert_id and h.endpoint = w.endpoint)
    or exists (
      select from delivery.due u where u.alert_id = w.alert_id and u.endpoint = w.endpoint offset ${WAITING_MAX - 1})`;

const keyOf = (alertId: string, endpoint: string): string => `${alertId} ${endpoint}`;

const fullOf = async (client: Transaction, alerts: readonly NewDelivery[]): Promise<ReadonlySet<string>> => {
  const pairs = new Map(
    alerts.map(({ alertId, target, workspaceId }) => {
      const endpoint = endpointOf(target, workspaceId);
      return [keyOf(alertId, endpoint), { alertId, endpoint }] as const;
    }),
  );
  if (pairs.size === 0) return new Set();
  const { rows } = await client.query<{ alert_id: string; endpoint: string }>({
    name: 'rules with too many deliveries waiting',
    text: FULL,
    values: [
      [...pairs.values()].map(({ alertId }) => alertId),
      [...pairs.values()].map(({ endpoint }) => endpoint),
    ],
  });
  return new Set(rows.map(({ alert_id, endpoint }) => keyOf(alert_id, endpoint)));
};

/** In the caller's transaction. Returns the ids that are due; pass them to `notifyDue` after the commit. */
export const enqueueOrHoldBack = async (
  client: Transaction,
  deliveries: readonly NewDelivery[],
): Promise<readonly string[]> => {
  const full = await fullOf(
    client,
    deliveries.filter(({ kind }) => kind === 'alert'),
  );
  if (full.size === 0) return enqueue(client, deliveries);
  const isHeld = ({ kind, alertId, target, workspaceId }: NewDelivery): boolean =>
    kind === 'alert' && full.has(keyOf(alertId, endpointOf(target, workspaceId)));
  const added = await enqueue(
    client,
    deliveries.filter((one) => !isHeld(one)),
  );
  await holdBack(client, deliveries.filter(isHeld));
  return added;
};
