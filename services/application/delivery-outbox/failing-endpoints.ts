import { DAY_MS } from '#contracts/values/time.ts';
import type { AlertChannel, EndpointChannel } from '#contracts/values/alerts.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/** Failures for this long without a success suspend an endpoint. */
export const FAILING_LIMIT_MS = 5 * DAY_MS;

export const SUSPENDED = 'The channel was suspended, because everything sent on it for five days failed.';

export type FailingEndpoint = {
  readonly alertId: string;
  readonly workspaceId: string;
  readonly channel: EndpointChannel;
  readonly since: Date;
};

/** The failure streak, from first to last attempt, has reached the limit. */
export const findEndpointsToSuspend = async (
  pool: Database,
  limit: number,
): Promise<readonly FailingEndpoint[]> => {
  const { rows } = await pool.query<{
    alert_id: string;
    workspace_id: string;
    channel: FailingEndpoint['channel'];
    since: Date;
  }>(
    `select alert_id, workspace_id, channel, since from delivery.failing
     where suspended_at is null and last_at - since >= $1 * interval '1 millisecond'
     order by since limit $2`,
    [FAILING_LIMIT_MS, limit],
  );
  return rows.map(({ alert_id, workspace_id, ...row }) => ({
    alertId: alert_id,
    workspaceId: workspace_id,
    ...row,
  }));
};

/** `at`: time of the suspension; `null` when there was nothing to suspend, which deletes the streak. */
export const closeFailureStreak = async (
  client: Transaction,
  { alertId, channel }: FailingEndpoint,
  at: Date | null,
): Promise<void> => {
  await client.query(
    at === null
      ? 'delete from delivery.failing where alert_id = $1 and channel = $2'
      : 'update delivery.failing set suspended_at = $3 where alert_id = $1 and channel = $2',
    at === null ? [alertId, channel] : [alertId, channel, at.toISOString()],
  );
};

/** After a new address or a pause of the rule, the five days start again. */
export const resetFailureStreaks = async (
  client: Transaction,
  alertId: string,
  channels: readonly AlertChannel[],
): Promise<void> => {
  await client.query('delete from delivery.failing where alert_id = $1 and channel = any($2::text[])', [
    alertId,
    channels,
  ]);
};
