import { z } from 'zod';
import { AlertCadence, AlertTrigger, DeliveryKind, EndpointChannel } from '../values/alerts.ts';
import { CalendarDate, Count, LibraryId, Timestamp, Uuid, WorkspaceId } from '../values/primitives.ts';
import { BrandReference } from '../resources/corpus/brand.ts';

/** Maximum items per payload. `items_total` also counts the items left out. */
export const PAYLOAD_ITEMS_MAX = 100;

/** Type of an observation, named as in the radar and the signals. */
export const AlertItemType = z
  .enum(['ad_started', 'ad_stopped', 'destination_changed', 'page_linked', 'partner_started', 'activity'])
  .meta({ description: 'Kind of observation: a radar item, a page linked, a new partner, or a signal.' });
export type AlertItemType = z.infer<typeof AlertItemType>;

export const AlertItem = z
  .strictObject({
    id: Uuid.meta({ description: 'The same item has the same id in every payload.' }),
    type: AlertItemType,
    observed_at: Timestamp.meta({ description: 'Time of the scan or link that showed it.' }),
    brand: BrandReference,
    title: z.string().meta({ description: 'The observation as a sentence.' }),
    ad_id: LibraryId.nullable().meta({
      description: "The library's id of the ad; null when it is about no single ad.",
    }),
    page_id: LibraryId.nullable().meta({
      description: "The network's id of the page; null when none is named.",
    }),
    destination_url: z
      .string()
      .nullable()
      .meta({ description: 'Link of the ad, after a change the new one; null: none observed.' }),
    previous_destination_url: z
      .string()
      .nullable()
      .meta({ description: 'Link before the change; null for other types.' }),
    signal: z
      .string()
      .nullable()
      .meta({ description: 'For `activity`, the kind of signal; otherwise null.' }),
    url: z.url().meta({ description: 'Address of the details in this API.' }),
  })
  .meta({ id: 'AlertItem', description: 'An observation, never a statement of cause or ownership.' });
export type AlertItem = z.infer<typeof AlertItem>;

/** Body of a webhook delivery. E-mail and chat messages are generated from the same payload. */
export const AlertPayload = z
  .strictObject({
    id: Uuid.meta({ description: 'Id of the delivery, equal to the header `webhook-id` in every attempt.' }),
    type: z.enum(['alert.matched', 'alert.digest', 'alert.test', 'alert.suspended']).meta({
      description: 'Event name to dispatch on; it says the same as `kind`.',
    }),
    kind: DeliveryKind,
    created_at: Timestamp.meta({ description: 'When the delivery was queued.' }),
    workspace_id: WorkspaceId.meta({ description: 'The workspace of the rule.' }),
    alert: z
      .strictObject({
        id: Uuid.meta({ description: 'Id of the rule, `{alertId}` in paths.' }),
        name: z.string().meta({ description: 'Title of the rule at that time.' }),
        trigger: AlertTrigger,
        cadence: AlertCadence,
      })
      .meta({ description: 'The rule that sends.' }),
    period: z
      .strictObject({
        from: CalendarDate.meta({ description: 'First UTC day.' }),
        to: CalendarDate.meta({ description: 'Last UTC day, included.' }),
      })
      .nullable()
      .meta({ description: 'Days of a digest, both included; otherwise null.' }),
    items_total: Count.meta({ description: 'All items, including those left out of `items`.' }),
    items: z
      .array(AlertItem)
      .max(PAYLOAD_ITEMS_MAX)
      .meta({
        description: `The items, at most ${PAYLOAD_ITEMS_MAX}.`,
      }),
    as_of: Timestamp.meta({ description: 'When the newest item was observed.' }),
    suspended_channel: EndpointChannel.optional().meta({
      description: 'For `alert.suspended`, which is sent by e-mail only: the suspended channel.',
    }),
    merged: z
      .strictObject({
        alerts: Count.meta({ description: 'Deliveries that this one replaces.' }),
        url: z.url().meta({ description: "Address of the list of the rule's deliveries." }),
      })
      .optional()
      .meta({
        description:
          'Only in an `alert.matched` that replaces several: their number, and a link to the list of deliveries. Too many deliveries of the rule were waiting. `items_total` counts the items of all.',
      }),
  })
  .meta({ id: 'AlertPayload', description: 'Body of a delivery of an alert rule.' });
export type AlertPayload = z.infer<typeof AlertPayload>;
