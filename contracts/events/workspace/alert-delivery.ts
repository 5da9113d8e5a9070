import type { AlertChannel, DeliveryKind, FailureClass } from '#contracts/values/alerts.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/**
 * Stream `alertDelivery-<workspaceId>+<alertId>`: all deliveries of a rule, successful or not. There is one stream
 * per rule, so that many outcomes fit into one append. The history of a deleted rule ends with its stream.
 */
export const ALERT_DELIVERY = 'alertDelivery';
export const alertDeliveryStream = (workspaceId: string, alertId: string): string =>
  `${ALERT_DELIVERY}-${workspaceId}+${alertId}`;

type DeliveryKey = { readonly workspace_id: string; readonly alert_id: string; readonly delivery_id: string };

/**
 * A match is queued for one channel. `delivery_id` is derived from rule, channel and match, so the same match
 * always gives the same delivery. It is also the `webhook-id` of every attempt.
 */
export type DeliveryQueued = Event<
  'DeliveryQueued',
  DeliveryKey & {
    readonly channel: AlertChannel;
    readonly kind: DeliveryKind;
    /** The payload of each attempt. Its items are left out when `payload_sha256` is set. */
    readonly payload: AlertPayload;
    readonly queued_at: string;
    /**
     * SHA-256 in hex of the bytes that are sent, and their number. Only of a payload that is too large for an event: the
     * tables alone have it whole.
     */
    readonly payload_sha256?: string;
    readonly payload_bytes?: number;
  }
>;

/** One attempt and its outcome: delivered, next attempt at `next_attempt_at`, or failed for good. */
export type DeliveryAttempted = Event<
  'DeliveryAttempted',
  DeliveryKey & {
    /** Counts from 1. */
    readonly attempt: number;
    readonly attempted_at: string;
    readonly outcome: 'delivered' | 'retrying' | 'failed';
    /** `null` when delivered. */
    readonly failure: FailureClass | null;
    /** The receiver's HTTP status or SMTP reply code. `null` when there was no reply. */
    readonly status_code: number | null;
    /** A sentence that explains the failure to a member or operator. `null` when delivered. */
    readonly reason: string | null;
    readonly duration_ms: number;
    /** Set when `outcome` is `retrying`. */
    readonly next_attempt_at: string | null;
  }
>;

/**
 * No further attempts: the rule was deleted or disabled, its channel was removed, or an operator cancelled the
 * delivery.
 */
export type DeliveryCancelled = Event<
  'DeliveryCancelled',
  DeliveryKey & { readonly reason: string; readonly cancelled_at: string }
>;

/** An operator requested another round of attempts for a failed, cancelled or delivered delivery. */
export type DeliveryReplayed = Event<'DeliveryReplayed', DeliveryKey & { readonly replayed_at: string }>;

export type AlertDeliveryEvent = DeliveryQueued | DeliveryAttempted | DeliveryCancelled | DeliveryReplayed;

/** Schema versions: each type's upcasters, from version 1 on. */
export const alertDeliveryVersions: EventVersions<AlertDeliveryEvent> = {
  DeliveryQueued: [],
  DeliveryAttempted: [],
  DeliveryCancelled: [],
  DeliveryReplayed: [],
};
