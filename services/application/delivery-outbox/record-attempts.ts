import type { AlertChannel } from '#contracts/values/alerts.ts';
import type { SendOutcome } from '#platform/channels/send-outcome.ts';
import type { Database } from '#platform/postgres/pool.ts';

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

/** What was given of attempts; columns that nothing is said of are null. */
const GIVEN = `
  given as (
    select * from json_to_recordset($1::json) as g (delivery_id uuid, attempt integer, at timestamptz, outcome text,
      failure text, status_code integer, reason text, duration_ms integer, next_attempt_at timestamptz,
      dns_ms real, connect_ms real, tls_ms real, wait_ms real, answer text)
  )`;
const NOTE = `
  insert into delivery.journal (delivery_id, type, at, attempt, outcome, failure, status_code, reason, duration_ms,
    next_attempt_at, dns_ms, connect_ms, tls_ms, wait_ms, answer)
  select delivery_id, 'DeliveryAttempted', at, attempt, outcome, failure, status_code, reason, duration_ms,
    next_attempt_at, dns_ms, connect_ms, tls_ms, wait_ms, decode(answer, 'base64')
  from given`;

/**
 * A delivery moves on only from the attempt before this one, so an attempt is written down once, whoever does it. All
 * in one statement, since each costs a round trip: the journal, and which endpoints are healthy and which fail.
 */
const SETTLE = `
  with ${GIVEN}, ended as (
    delete from delivery.due u using given g
    where u.delivery_id = g.delivery_id and u.attempts = g.attempt - 1 and g.next_attempt_at is null
    returning u.delivery_id
  ), put_off as (
    update delivery.due u
    set attempts = g.attempt, next_attempt_at = g.next_attempt_at, taken_by = null, taken_until = null
    from given g
    where u.delivery_id = g.delivery_id and u.attempts = g.attempt - 1 and g.next_attempt_at is not null
    returning u.delivery_id
  ), healed as (
    delete from delivery.failing f using unnest($2::uuid[], $3::text[]) as g (alert_id, channel)
    where f.alert_id = g.alert_id and f.channel = g.channel
  ), failed as (
    -- A channel that was suspended and fails again was resumed in between: its row of failures begins anew.
    insert into delivery.failing as f (alert_id, channel, workspace_id, since, last_at)
    select a, c, w, t, t from unnest($4::uuid[], $5::text[], $6::text[], $7::timestamptz[]) as g (a, c, w, t)
    on conflict (alert_id, channel) do update set
      since = case when f.suspended_at is null then f.since else excluded.since end,
      last_at = greatest(f.last_at, excluded.last_at), suspended_at = null
  )
  ${NOTE} join (select * from ended union all select * from put_off) as moved using (delivery_id)
  order by at`;

/** What was cancelled while it was being sent stays cancelled, unless it arrived: then that is its last word. */
const ARRIVED_THOUGH_CANCELLED = `
  with ${GIVEN}
  ${NOTE}
  where outcome = 'delivered'
    and exists (select from delivery.delivery d where d.delivery_id = given.delivery_id)
    and not exists (select from delivery.due u where u.delivery_id = given.delivery_id)
    and (
      select j.type = 'DeliveryCancelled' and j.attempt = given.attempt - 1 from delivery.journal j
      where j.delivery_id = given.delivery_id order by j.seq desc limit 1)`;

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

const keyOf = ({ alertId, channel }: SettledAttempt): string => `${alertId} ${channel}`;

/**
 * What came through ends a row of failures; what did not begins one, where nothing came through meanwhile. One
 * attempt of each endpoint says so.
 */
const healthOf = (attempts: readonly SettledAttempt[]) => {
  const healthy = new Map<string, SettledAttempt>();
  const failing = new Map<string, SettledAttempt>();
  for (const attempt of attempts) {
    // The service's own mail server is nobody's endpoint.
    if (attempt.channel === 'email') continue;
    const key = keyOf(attempt);
    if (attempt.sent.delivered) healthy.set(key, attempt);
    else if (!failing.has(key)) failing.set(key, attempt);
  }
  for (const key of healthy.keys()) failing.delete(key);
  return { healthy: [...healthy.values()], failing: [...failing.values()] };
};

/** Writes attempts and what follows from them; all or none. What it is given twice it writes once. */
export const settle = async (pool: Database, attempts: readonly SettledAttempt[]): Promise<void> => {
  if (attempts.length === 0) return;
  const given = JSON.stringify(attempts.map(rowOf));
  const { healthy, failing } = healthOf(attempts);
  const values = [
    given,
    healthy.map(({ alertId }) => alertId),
    healthy.map(({ channel }) => channel),
    failing.map(({ alertId }) => alertId),
    failing.map(({ channel }) => channel),
    failing.map(({ workspaceId }) => workspaceId),
    failing.map(({ attemptedAt }) => attemptedAt),
  ];
  const { rowCount } = await pool.query({ name: 'settle deliveries', text: SETTLE, values });
  if (rowCount === attempts.length) return;
  await pool.query({ name: 'settle cancelled', text: ARRIVED_THOUGH_CANCELLED, values: [given] });
};
