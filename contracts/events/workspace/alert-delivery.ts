import type { AlertChannel, DeliveryKind, FailureClass } from '#contracts/values/alerts.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { Event } from '../event.ts';

/**
 * Stream `alertDelivery-<workspaceId>+<alertId>`: everything that a rule sent, or tried to. One stream a rule, so
 * that many outcomes go in one append, and that the history of a deleted rule ends with it.
 */
export const ALERT_DELIVERY = 'alertDelivery';
export const alertDeliveryStream = (workspaceId: string, alertId: string): string =>
  `${ALERT_DELIVERY}-${workspaceId}+${alertId}`;

type Named = { readonly workspace_id: string; readonly alert_id: string; readonly delivery_id: string };

/**
 * Something matched: it is to be sent on one channel. `delivery_id` is derived from rule, channel and what matched,
 * so that the same match is the same delivery however often it is met; it is also the `webhook-id` of every attempt.
 */
export type DeliveryQueued = Event<
  'DeliveryQueued',
  Named & {
    readonly channel: AlertChannel;
    readonly kind: DeliveryKind;
    readonly payload: AlertPayload;
    readonly queued_at: string;
  }
>;

/** One attempt and what follows from it: delivered, another at `next_attempt_at`, or given up. */
export type DeliveryAttempted = Event<
  'DeliveryAttempted',
  Named & {
    /** From 1. */
    readonly attempt: number;
    readonly attempted_at: string;
    readonly outcome: 'delivered' | 'retrying' | 'failed';
    /** `null` when delivered. */
    readonly failure: FailureClass | null;
    /** The receiver's status, or SMTP reply code; `null` where there was no answer. */
    readonly status_code: number | null;
    /** A sentence for whoever asks why; `null` when delivered. */
    readonly reason: string | null;
    readonly duration_ms: number;
    /** Set when `outcome` is `retrying`. */
    readonly next_attempt_at: string | null;
  }
>;

/** Nothing more is sent: the rule is gone or off, its channel removed, or an operator said so. */
export type DeliveryCancelled = Event<
  'DeliveryCancelled',
  Named & { readonly reason: string; readonly cancelled_at: string }
>;

/** An operator asked for another round of attempts of a failed, cancelled or delivered one. */
export type DeliveryReplayed = Event<'DeliveryReplayed', Named & { readonly replayed_at: string }>;

export type AlertDeliveryEvent = DeliveryQueued | DeliveryAttempted | DeliveryCancelled | DeliveryReplayed;
