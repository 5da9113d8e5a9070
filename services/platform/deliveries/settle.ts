import type { AlertChannel } from '#contracts/alerts.ts';
import type { SendOutcome } from '../channels/outcome.ts';
import { type Database, inTransaction, type Transaction } from '../postgres.ts';

/** An attempt and what follows from it. */
export type SettledAttempt = {
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly alertId: string;
  readonly channel: AlertChannel;
  /** From 1, over all rounds. */
  readonly attempt: number;
  readonly attemptedAt: string;
  readonly outcome: 'delivered' | 'retrying' | 'failed';
  /** When `retrying`. */
  readonly nextAttemptAt: string | null;
  readonly sent: SendOutcome;
};

/**
 * The row moves on only from the attempt before this one, so an attempt is written down once, whoever does it. What
 * was cancelled while it was being sent stays cancelled, unless it arrived.
 */
const SETTLE = `
  with given as (
    select * from json_to_recordset($1::json) as g (delivery_id uuid, attempt integer, at timestamptz, outcome text,
      failure text, status_code integer, reason text, duration_ms integer, next_attempt_at timestamptz,
      dns_ms real, connect_ms real, tls_ms real, wait_ms real, answer text)
  ), moved as (
    update delivery.delivery d
    set status = g.outcome, attempts = g.attempt, next_attempt_at = g.next_attempt_at, taken_by = null,
      taken_until = null, finished_at = case when g.next_attempt_at is null then g.at end
    from given g
    where d.delivery_id = g.delivery_id and d.attempts = g.attempt - 1
      and (d.status in ('queued', 'retrying') or (d.status = 'cancelled' and g.outcome = 'delivered'))
    returning d.delivery_id, d.workspace_id, d.alert_id
  )
  insert into delivery.journal (delivery_id, workspace_id, alert_id, type, at, attempt, outcome, failure, status_code,
    reason, duration_ms, next_attempt_at, dns_ms, connect_ms, tls_ms, wait_ms, answer)
  select delivery_id, workspace_id, alert_id, 'DeliveryAttempted', at, attempt, outcome, failure, status_code, reason,
    duration_ms, next_attempt_at, dns_ms, connect_ms, tls_ms, wait_ms, decode(answer, 'base64')
  from given join moved using (delivery_id)
  order by at`;

/** Microseconds are noise, and digits are paid for twice. */
const rounded = (ms: number | null): number | undefined =>
  ms === null ? undefined : Math.round(ms * 100) / 100;

/** What is null is left out: of most attempts there is little to say. */
const rowOf = ({ deliveryId, attempt, attemptedAt, outcome, nextAttemptAt, sent }: SettledAttempt) => ({
  delivery_id: deliveryId,
  attempt,
  at: attemptedAt,
  outcome,
  failure: sent.failure ?? undefined,
  status_code: sent.status_code ?? undefined,
  reason: sent.reason ?? undefined,
  duration_ms: sent.duration_ms,
  next_attempt_at: nextAttemptAt ?? undefined,
  dns_ms: rounded(sent.timing.dns_ms),
  connect_ms: rounded(sent.timing.connect_ms),
  tls_ms: rounded(sent.timing.tls_ms),
  wait_ms: rounded(sent.timing.wait_ms),
  answer: sent.answer === null || sent.answer.length === 0 ? undefined : sent.answer.toString('base64'),
});

type Endpoint = Pick<SettledAttempt, 'alertId' | 'channel' | 'workspaceId'>;
const keyOf = ({ alertId, channel }: Endpoint): string => `${alertId} ${channel}`;

/** What came through ends a row of failures; what did not begins one, where nothing came through meanwhile. */
const noteHealth = async (client: Transaction, attempts: readonly SettledAttempt[]): Promise<void> => {
  // The service's own mail server is nobody's endpoint.
  const ofUsers = attempts.filter(({ channel }) => channel !== 'email');
  const healthy = new Map<string, Endpoint>();
  const failing = new Map<string, SettledAttempt>();
  for (const attempt of ofUsers) if (attempt.sent.delivered) healthy.set(keyOf(attempt), attempt);
  for (const attempt of ofUsers) {
    if (!healthy.has(keyOf(attempt)) && !failing.has(keyOf(attempt))) failing.set(keyOf(attempt), attempt);
  }
  if (healthy.size > 0) {
    await client.query(
      `delete from delivery.failing f using unnest($1::uuid[], $2::text[]) as g (alert_id, channel)
       where f.alert_id = g.alert_id and f.channel = g.channel`,
      [
        [...healthy.values()].map(({ alertId }) => alertId),
        [...healthy.values()].map(({ channel }) => channel),
      ],
    );
  }
  if (failing.size > 0) {
    const rows = [...failing.values()];
    await client.query(
      // A rule that was suspended and fails again was enabled in between: its row of failures begins anew.
      `insert into delivery.failing as f (alert_id, channel, workspace_id, since, last_at)
       select a, c, w, t, t from unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[]) as g (a, c, w, t)
       on conflict (alert_id, channel) do update set
         since = case when f.suspended_at is null then f.since else excluded.since end,
         last_at = greatest(f.last_at, excluded.last_at), suspended_at = null`,
      [
        rows.map(({ alertId }) => alertId),
        rows.map(({ channel }) => channel),
        rows.map(({ workspaceId }) => workspaceId),
        rows.map(({ attemptedAt }) => attemptedAt),
      ],
    );
  }
};

/** Writes attempts and what follows from them, within a transaction. */
export const settleWithin = async (
  client: Transaction,
  attempts: readonly SettledAttempt[],
): Promise<void> => {
  if (attempts.length === 0) return;
  const values = [JSON.stringify(attempts.map(rowOf))];
  await client.query({ name: 'settle deliveries', text: SETTLE, values });
  await noteHealth(client, attempts);
};

/** Writes attempts and what follows from them; all or none. */
export const settle = (pool: Database, attempts: readonly SettledAttempt[]): Promise<void> =>
  inTransaction(pool, (client) => settleWithin(client, attempts));
