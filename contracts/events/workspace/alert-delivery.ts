import type { AlertChannel, DeliveryKind, FailureClass } from '#contracts/values/alerts.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { Event } from '../event.ts';
import type { EventVersions } from '../versions.ts';

/** Stream `alertDelivery-<workspaceId>+<alertId>`: outcomes fit into one append, and end with the rule. */
export const ALERT_DELIVERY = 'alertDelivery';
export const alertDeliveryStream = (workspaceId: string, alertId: string): string =>
  `${ALERT_DELIVERY}-${workspaceId}+${alertId}`;

type DeliveryKey = { readonly workspace_id: string; readonly alert_id: string; readonly delivery_id: string };

/** `delivery_id` follows from rule, channel and match, and is the `webhook-id` of every attempt. */
export type DeliveryQueued = Event<
  'DeliveryQueued',
  DeliveryKey & {
    readonly channel: AlertChannel;
    readonly kind: DeliveryKind;
    /** Without its items when `payload_sha256` is set. */
    readonly payload: AlertPayload;
    readonly queued_at: string;
    /** SHA-256 in hex and size of a payload that is too large for an event: only the tables have it whole. */
    readonly payload_sha256?: string;
    readonly payload_bytes?: number;
  }
>;

/** The outcome is delivered, a next attempt at `next_attempt_at`, or failed for good. */
export type DeliveryAttempted = Event<
  'DeliveryAttempted',
  DeliveryKey & {
    readonly attempt: number;
    readonly attempted_at: string;
    readonly outcome: 'delivered' | 'retrying' | 'failed';
    /** `null` when delivered. */
    readonly failure: FailureClass | null;
    /** HTTP status or SMTP reply code; `null` without a reply. */
    readonly status_code: number | null;
    /** Sentence for a member or operator; `null` when delivered. */
    readonly reason: string | null;
    readonly duration_ms: number;
    /** Set when `outcome` is `retrying`. */
    readonly next_attempt_at: string | null;
  }
>;

/** Ends the attempts: the rule was deleted or disabled, its channel removed, or an operator cancelled. */
export type DeliveryCancelled = Event<
  'DeliveryCancelled',
  DeliveryKey & { readonly reason: string; readonly cancelled_at: string }
>;

/** A member or an operator requested another round of attempts. */
export type DeliveryReplayed = Event<'DeliveryReplayed', DeliveryKey & { readonly replayed_at: string }>;

export type AlertDeliveryEvent = DeliveryQueued | DeliveryAttempted | DeliveryCancelled | DeliveryReplayed;

export const alertDeliveryVersions: EventVersions<AlertDeliveryEvent> = {
  DeliveryQueued: [],
  DeliveryAttempted: [],
  DeliveryCancelled: [],
  DeliveryReplayed: [],
};
