import { metadataOf } from '#tests/dsl/metadata.ts';
import { randomUUID } from 'node:crypto';
import type { EventMetadata } from '#contracts/events/event.ts';
import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { NewDelivery } from '#application/delivery-outbox/enqueue.ts';
import type { DeliveryTarget } from '#application/delivery-outbox/target.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export type Rule = { readonly workspaceId: string; readonly alertId: string };

export const METADATA: EventMetadata = metadataOf('tests');

export const newDelivery = (
  { workspaceId, alertId }: Rule,
  target: DeliveryTarget,
  at: Date,
  more: Partial<NewDelivery> = {},
): NewDelivery => {
  const deliveryId = more.deliveryId ?? randomUUID();
  const payload: AlertPayload = {
    id: deliveryId,
    type: 'alert.matched',
    kind: 'alert',
    created_at: at.toISOString(),
    workspace_id: workspaceId,
    alert: { id: alertId, name: 'Größe & <Preis>', trigger: 'new_ads', cadence: 'instant' },
    period: null,
    items_total: 1,
    items: [
      {
        id: randomUUID(),
        type: 'ad_started',
        observed_at: at.toISOString(),
        brand: {
          id: randomUUID(),
          slug: 'shop',
          name: 'Shop <!channel>',
          logo_url: null,
          url: 'https://api.test/v1/brands/shop',
        },
        title: 'Shop was observed running a new ad: “20 % off | today & tomorrow”',
        ad_id: '9000000000000001',
        page_id: null,
        destination_url: null,
        previous_destination_url: null,
        signal: null,
        url: 'https://api.test/v1/ads/9000000000000001',
      },
    ],
    as_of: at.toISOString(),
  };
  const common = { deliveryId, workspaceId, alertId, kind: 'alert', target, payload } as const;
  return { ...common, queuedAt: at.toISOString(), ...more };
};
