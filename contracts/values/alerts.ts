import { z } from 'zod';

/** `page_changes`: changed links and newly linked pages. `activity`: the signals in `ACTIVITY_KINDS`. */
export const AlertTrigger = z.enum(['new_ads', 'stopped_ads', 'page_changes', 'new_partners', 'activity']);
export type AlertTrigger = z.infer<typeof AlertTrigger>;

/** Immediately per batch of events, or one digest per UTC day or ISO week. */
export const AlertCadence = z.enum(['instant', 'daily', 'weekly']);
export type AlertCadence = z.infer<typeof AlertCadence>;

export const AlertChannel = z.enum(['email', 'webhook', 'chat']);
export type AlertChannel = z.infer<typeof AlertChannel>;

/** Channels to a member's own endpoint. The service's own server sends e-mail, which is never suspended. */
export const EndpointChannel = AlertChannel.extract(['webhook', 'chat']);
export type EndpointChannel = z.infer<typeof EndpointChannel>;

/** `queued`: before the first attempt. `retrying`: an attempt failed and another one is due. */
export const DeliveryStatus = z.enum(['queued', 'retrying', 'delivered', 'failed', 'cancelled']);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/** The step that failed, or the receiver's status (`http`). */
export const FailureClass = z.enum(['timeout', 'connection', 'dns', 'tls', 'http', 'blocked_target']);
export type FailureClass = z.infer<typeof FailureClass>;

/** A match, a digest, the `test` operation, or a notice from the service itself. */
export const DeliveryKind = z.enum(['alert', 'digest', 'test', 'notice']);
export type DeliveryKind = z.infer<typeof DeliveryKind>;
