import { z } from 'zod';

/** The words of alert rules and deliveries, shared by events, resources and payloads (specification, part "Events"). */

/** What a rule fires on. `page_changes`: link changes and pages linked; `activity`: what the signals call activity. */
export const AlertTrigger = z.enum(['new_ads', 'stopped_ads', 'page_changes', 'new_partners', 'activity']);
export type AlertTrigger = z.infer<typeof AlertTrigger>;

/** When a rule answers: for each batch of events at once, or once a day or ISO week (UTC) for all of it. */
export const AlertCadence = z.enum(['instant', 'daily', 'weekly']);
export type AlertCadence = z.infer<typeof AlertCadence>;

export const AlertChannel = z.enum(['email', 'webhook', 'chat']);
export type AlertChannel = z.infer<typeof AlertChannel>;

/** Those that lead to somebody's endpoint. E-mail leaves by the service's own server, and is never given up. */
export const EndpointChannel = AlertChannel.extract(['webhook', 'chat']);
export type EndpointChannel = z.infer<typeof EndpointChannel>;

/** `queued`: before its first attempt; `retrying`: after a failed one, another is due. */
export const DeliveryStatus = z.enum(['queued', 'retrying', 'delivered', 'failed', 'cancelled']);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** Why an attempt failed: in which step, or by the receiver's own answer (`http`). */
export const FailureClass = z.enum(['timeout', 'connection', 'dns', 'tls', 'http', 'blocked_target']);
export type FailureClass = z.infer<typeof FailureClass>;

/** What caused a delivery: a match, a digest of a period, the `test` operation, or the service's own word. */
export const DeliveryKind = z.enum(['alert', 'digest', 'test', 'notice']);
export type DeliveryKind = z.infer<typeof DeliveryKind>;
