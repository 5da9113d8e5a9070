import { z } from 'zod';
import { AlertChannel, DeliveryKind, DeliveryStatus, FailureClass } from '#contracts/values/alerts.ts';
import { Count, Timestamp, Uuid, WorkspaceId } from '#contracts/values/primitives.ts';

/** Newest attempts only. The total is unlimited because operators can replay. */
export const ATTEMPTS_SHOWN_MAX = 30;

export const AlertDeliveryAttempt = z
  .strictObject({
    attempt: z
      .int()
      .min(1)
      .meta({ description: 'Number of the attempt, from 1; a replay continues the count.' }),
    attempted_at: Timestamp.meta({ description: 'When the attempt began.' }),
    outcome: z
      .enum(['delivered', 'retrying', 'failed'])
      .meta({ description: 'Result of the attempt: done, another attempt follows, or given up.' }),
    failure: FailureClass.nullable().meta({ description: 'The step that failed; null when delivered.' }),
    status_code: z
      .int()
      .nullable()
      .meta({ description: "The receiver's HTTP status or SMTP reply code; null without a reply." }),
    reason: z.string().nullable().meta({ description: 'Why it failed, as a sentence; null when delivered.' }),
    duration_ms: Count.meta({ description: 'Milliseconds from its start to the answer, or to its failure.' }),
    next_attempt_at: Timestamp.nullable().meta({
      description: 'When the next attempt was due; null when there was none.',
    }),
  })
  .meta({ id: 'AlertDeliveryAttempt', description: 'One try to send a delivery.' });
export type AlertDeliveryAttempt = z.infer<typeof AlertDeliveryAttempt>;

export const AlertDelivery = z
  .strictObject({
    id: Uuid.meta({ description: 'Equal to `webhook-id` of each request and to `id` of its body.' }),
    alert_id: Uuid.meta({ description: 'The rule that sent it.' }),
    channel: AlertChannel,
    kind: DeliveryKind,
    status: DeliveryStatus,
    items_total: Count.meta({ description: 'Items in it, including those that its payload leaves out.' }),
    created_at: Timestamp.meta({ description: 'When it was queued.' }),
    next_attempt_at: Timestamp.nullable().meta({
      description: 'When the next attempt is due; null unless `retrying`.',
    }),
    finished_at: Timestamp.nullable().meta({
      description: 'When it was delivered, given up or cancelled; null until then.',
    }),
    reason: z.string().nullable().meta({
      description: 'Reason why it is not delivered yet, or was cancelled, as a sentence; null without one.',
    }),
    attempts_total: Count.meta({ description: 'All attempts, including those not shown.' }),
    attempts: z
      .array(AlertDeliveryAttempt)
      .max(ATTEMPTS_SHOWN_MAX)
      .meta({ description: `Attempts, oldest first; at most the latest ${ATTEMPTS_SHOWN_MAX}.` }),
  })
  .meta({ id: 'AlertDelivery', description: 'A match, digest, sample or notice sent on one channel.' });
export type AlertDelivery = z.infer<typeof AlertDelivery>;

export const Redeliver = z.strictObject({}).meta({ id: 'Redeliver', description: 'An empty object.' });

export const Redelivered = z
  .strictObject({
    delivery_id: Uuid.meta({ description: 'Id of the delivery, which stays the same.' }),
    alert_id: Uuid.meta({ description: 'Its alert rule.' }),
    workspace_id: WorkspaceId,
  })
  .meta({ id: 'Redelivered', description: 'A delivery that is queued again.' });

/** Failed deliveries that one request sends again. */
export const REDELIVERIES_MAX = 1_000;

export const RedeliverFailed = z
  .strictObject({
    since: Timestamp.meta({ description: 'Deliveries that were given up at or after this time.' }),
  })
  .meta({ id: 'RedeliverFailed', description: 'Failed deliveries to send again.' });

export const RedeliveredFailed = z
  .strictObject({
    workspace_id: WorkspaceId,
    redelivered: Count.max(REDELIVERIES_MAX).meta({ description: 'Deliveries that are queued again.' }),
    not_sendable: Count.meta({
      description:
        'Failed deliveries that stay as they are: their rule is off, its channel was removed or is suspended, or they are no longer stored.',
    }),
    more: z.boolean().meta({ description: 'True when failed deliveries are left. Send the request again.' }),
  })
  .meta({ id: 'RedeliveredFailed', description: 'What became of the failed deliveries.' });
