import { z } from 'zod';
import { AlertCadence, AlertTrigger, DeliveryKind, EndpointChannel } from '../values/alerts.ts';
import { CalendarDate, Count, LibraryId, Timestamp, Uuid } from '../values/primitives.ts';
import { BrandReference } from '../resources/corpus/brand.ts';

/** Maximum items per payload. `items_total` also counts the items left out. */
export const PAYLOAD_ITEMS_MAX = 100;

/** Type of an observation, named as in the radar and the signals. */
export const AlertItemType = z.enum([
  'ad_started',
  'ad_stopped',
  'destination_changed',
  'page_linked',
  'partner_started',
  'activity',
]);
export type AlertItemType = z.infer<typeof AlertItemType>;

export const AlertItem = z
  .strictObject({
    id: Uuid.meta({ description: 'The same item has the same id in every payload.' }),
    type: AlertItemType,
    observed_at: Timestamp,
    brand: BrandReference,
    title: z.string().meta({ description: 'What was observed, as a sentence.' }),
    ad_id: LibraryId.nullable(),
    page_id: LibraryId.nullable(),
    destination_url: z.string().nullable(),
    previous_destination_url: z.string().nullable(),
    signal: z.string().nullable().meta({ description: 'For `activity`, the kind of signal.' }),
    url: z.url().meta({ description: 'Link to details in this service.' }),
  })
  .meta({ id: 'AlertItem', description: 'An observation, never a statement of cause or ownership.' });
export type AlertItem = z.infer<typeof AlertItem>;

/** Body of a webhook delivery. E-mail and chat messages are generated from the same payload. */
export const AlertPayload = z
  .strictObject({
    id: Uuid.meta({ description: 'Id of the delivery, equal to the header `webhook-id` in every attempt.' }),
    type: z.enum(['alert.matched', 'alert.digest', 'alert.test', 'alert.suspended']),
    kind: DeliveryKind,
    created_at: Timestamp,
    workspace_id: z.string(),
    alert: z.strictObject({
      id: Uuid,
      name: z.string(),
      trigger: AlertTrigger,
      cadence: AlertCadence,
    }),
    period: z
      .strictObject({ from: CalendarDate, to: CalendarDate })
      .nullable()
      .meta({ description: 'Days of a digest, both included; otherwise null.' }),
    items_total: Count,
    items: z.array(AlertItem).max(PAYLOAD_ITEMS_MAX),
    as_of: Timestamp.meta({ description: 'When the newest item was observed.' }),
    suspended_channel: EndpointChannel.optional().meta({
      description: 'For `alert.suspended`, which is sent by e-mail only: the suspended channel.',
    }),
    merged: z.strictObject({ alerts: Count, url: z.url() }).optional().meta({
      description:
        'Only in an `alert.matched` that replaces several: their number, and a link to the list of deliveries. Too many deliveries of the rule were waiting. `items_total` counts the items of all.',
    }),
  })
  .meta({ id: 'AlertPayload' });
export type AlertPayload = z.infer<typeof AlertPayload>;
