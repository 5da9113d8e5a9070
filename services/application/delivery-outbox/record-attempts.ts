import type { AlertChannel } from '#contracts/values/alerts.ts';
import type { SendOutcome } from '#platform/channels/send-outcome.ts';
import { leaseTimeSql } from '#platform/postgres/lease/row-lease.ts';
import type { Database } from '#platform/postgres/pool.ts';

export type FinishedAttempt = {
  readonly deliveryId: string;
  readonly workspaceId: string;
  readonly alertId: string;
  readonly channel: AlertChannel;
  readonly endpoint: string;
  /** From 1, across replays. */
  readonly attempt: number;
  readonly attemptedAt: string;
  readonly outcome: 'delivered' | 'retrying' | 'failed';
  /** `null` unless `outcome` is `retrying`. */
  readonly nextAttemptAt: string | null;
  readonly sent: SendOutcome;
};

/** Pause of an endpoint after a failure, and of a chat address between two messages. */
export const ENDPOINT_PAUSE_MS = 1_000;

/**
 * Records an attempt once (optimistic lock on the count), and only for the holder of the claim: another may be sending.
 * A delivery that arrived ends all the same.
 */
const IS_OWN = `u.delivery_id = g.delivery_id and u.attempts = g.attempt - 1
  and (u.taken_by = $2 or g.outcome = 'delivered')`;

/**
 * Queue, journal, state of endpoints and failure streaks in one statement, to save round trips. Absent JSON fields become
 * null. A delivery that arrived although it was cancelled before is recorded; a failed one stays cancelled.
 */
const RECORD_ATTEMPTS = `
  with batch as (
    select * from json_to_recordset($1::json) as g (delivery_id uuid, attempt integer, at timestamptz, outcome text,
      failure text, status_code integer, reason text, duration_ms integer, next_attempt_at timestamptz,
      dns_ms real, connect_ms real, tls_ms real, wait_ms real, answer text)
  ), ended as (
    delete from delivery.due u using batch g
    where ${IS_OWN} and g.next_attempt_at is null
    returning u.delivery_id
  ), put_off as (
    update delivery.due u
    set attempts = g.attempt, next_attempt_at = g.next_attempt_at, taken_by = null, taken_until = null
    from batch g
    where ${IS_OWN} and g.next_attempt_at is not null
    returning u.delivery_id
  ), missed as materialized (
    -- Mostly empty. Without this step, the last entry of every delivery would be read.
    select * from batch where outcome = 'delivered' and delivery_id not in (select delivery_id from ended)
  ), arrived as (
    select delivery_id from missed g
    where not exists (select from delivery.due u where u.delivery_id = g.delivery_id)
      and exists (select from delivery.delivery d where d.delivery_id = g.delivery_id)
      and (
        select j.type = 'DeliveryCancelled' and j.attempt = g.attempt - 1 from delivery.journal j
        where j.delivery_id = g.delivery_id order by j.seq desc limit 1)
  ), moved as (
    select * from ended union all select * from put_off union all select * from arrived
  ), paused as (
    insert into delivery.endpoint (endpoint, not_before, is_failing)
    select endpoint, ${leaseTimeSql('$10')} + interval '${ENDPOINT_PAUSE_MS} milliseconds', is_failing
    from unnest($11::text[], $12::boolean[]) as g (endpoint, is_failing) order by endpoint
    on conflict (endpoint) do update set not_before = excluded.not_before, is_failing = excluded.is_failing
  ), resumed as (
    delete from delivery.endpoint where endpoint = any($13::text[])
  ), healed as (
    delete from delivery.failing f using unnest($3::uuid[], $4::text[]) as g (alert_id, channel)
    where f.alert_id = g.alert_id and f.channel = g.channel
  ), failed as (
    -- A suspended channel that fails again was resumed in between: a new failure streak starts.
    insert into delivery.failing as f (alert_id, channel, workspace_id, since, last_at)
    select distinct on (a, c) a, c, w, t, t
    from unnest($5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::timestamptz[]) as g (delivery_id, a, c, w, t)
    join moved using (delivery_id) order by a, c, t
    on conflict (alert_id, channel) do update set
      since = case when f.suspended_at is null then f.since else excluded.since end,
      last_at = greatest(f.last_at, excluded.last_at), suspended_at = null
  )
  insert into delivery.journal (delivery_id, type, at, attempt, outcome, failure, status_code, reason, duration_ms,
    next_attempt_at, dns_ms, connect_ms, tls_ms, wait_ms, answer)
  select delivery_id, 'DeliveryAttempted', at, attempt, outcome, failure, status_code, reason, duration_ms,
    next_attempt_at, dns_ms, connect_ms, tls_ms, wait_ms, decode(answer, 'base64')
  from batch join moved using (delivery_id) order by at
  returning delivery_id`;

const rounded = (ms: number | null): number | undefined =>
  ms === null ? undefined : Math.round(ms * 100) / 100;

const rowOf = ({ deliveryId, attempt, attemptedAt, outcome, nextAttemptAt, sent }: FinishedAttempt) => ({
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

const keyOf = ({ alertId, channel }: FinishedAttempt): string => `${alertId} ${channel}`;

/** A success resets an endpoint's failure streak; a recorded failure starts one if none runs. */
const healthOf = (attempts: readonly FinishedAttempt[]) => {
  const healthy = new Map<string, FinishedAttempt>();
  const failing: FinishedAttempt[] = [];
  for (const attempt of attempts) {
    // E-mail has no failure streak: the mail server belongs to the service, not to a customer.
    if (attempt.channel === 'email') continue;
    if (attempt.sent.delivered) healthy.set(keyOf(attempt), attempt);
    else failing.push(attempt);
  }
  return {
    healthy: [...healthy.values()],
    failing: failing.filter((attempt) => !healthy.has(keyOf(attempt))),
  };
};

/** The last attempt of the batch decides. E-mail has one server, whose failures say nothing about an endpoint. */
const endpointStates = (attempts: readonly FinishedAttempt[]) => {
  const last = new Map(attempts.map((one) => [one.endpoint, one]));
  const known = [...last.values()].filter(({ channel }) => channel !== 'email');
  const isPaused = ({ channel, sent }: FinishedAttempt): boolean => channel === 'chat' || !sent.delivered;
  return { paused: known.filter(isPaused), resumed: known.filter((one) => !isPaused(one)) };
};
/** Attempts after which their endpoint pauses. */
export const pausedEndpoints = (attempts: readonly FinishedAttempt[]): readonly FinishedAttempt[] =>
  endpointStates(attempts).paused;

type Recorded = { readonly delivery_id: string };

/**
 * Atomic and idempotent. `now`: `null` for the clock of Postgres. Returns attempts not recorded: the claim is lost, or
 * they were recorded before.
 */
export const recordAttempts = async (
  pool: Database,
  workerId: string,
  attempts: readonly FinishedAttempt[],
  now: Date | null,
): Promise<readonly string[]> => {
  if (attempts.length === 0) return [];
  const { healthy, failing } = healthOf(attempts);
  const { paused, resumed } = endpointStates(attempts);
  const values = [
    JSON.stringify(attempts.map(rowOf)),
    workerId,
    healthy.map(({ alertId }) => alertId),
    healthy.map(({ channel }) => channel),
    failing.map(({ deliveryId }) => deliveryId),
    failing.map(({ alertId }) => alertId),
    failing.map(({ channel }) => channel),
    failing.map(({ workspaceId }) => workspaceId),
    failing.map(({ attemptedAt }) => attemptedAt),
    now?.toISOString() ?? null,
    paused.map(({ endpoint }) => endpoint),
    paused.map(({ sent }) => !sent.delivered),
    resumed.map(({ endpoint }) => endpoint),
  ];
  const record = async () =>
    (await pool.query<Recorded>({ name: 'record attempts', text: RECORD_ATTEMPTS, values })).rows;
  const recorded = await record();
  if (recorded.length === attempts.length) return [];
  // A cancellation that committed while the statement waited for it is visible to the next one.
  const found = new Set([...recorded, ...(await record())].map(({ delivery_id }) => delivery_id));
  return attempts.flatMap(({ deliveryId }) => (found.has(deliveryId) ? [] : [deliveryId]));
};
