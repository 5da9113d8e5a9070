import type { AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import { AD_ID, BRAND_ID, brandReference, radarItem, WORKSPACE_ID } from '#operations/endpoint/examples.ts';

export const ALERT_ID = 'b7d1c3e5-2f4a-5b68-9c0d-6e8f1a3b5d70';
export const DELIVERY_ID = '4e2a9c71-8d3b-5f06-a1e4-7b9d2c5f8036';
/** Base64 of the bytes 0 to 31. */
export const WEBHOOK_SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

const settings = {
  name: 'Launches of competitors',
  trigger: 'new_ads' as const,
  brand_ids: [BRAND_ID],
  cadence: 'instant' as const,
  email: true,
};

export const createAlert = { ...settings, webhook_url: 'https://hooks.example.com/ads' };

export const alert = {
  id: ALERT_ID,
  ...createAlert,
  chat: null,
  enabled: true,
  sends_on: ['email' as const, 'webhook' as const],
  suspended: [],
  created_by: 'mem_2h8k4n6p0r5s7v9w',
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.000Z',
};

export const alertPayload: AlertPayload = {
  id: DELIVERY_ID,
  type: 'alert.matched',
  kind: 'alert',
  created_at: '2026-11-20T09:31:00.000Z',
  workspace_id: WORKSPACE_ID,
  alert: { id: ALERT_ID, name: settings.name, trigger: settings.trigger, cadence: settings.cadence },
  period: null,
  items_total: 1,
  items: [
    {
      id: radarItem.id,
      type: 'ad_started',
      observed_at: radarItem.observed_at,
      brand: brandReference,
      title: `${brandReference.name} was observed running a new ad: “${radarItem.ad.title}”`,
      ad_id: AD_ID,
      page_id: radarItem.ad.page.page_id,
      destination_url: radarItem.destination_url,
      previous_destination_url: null,
      signal: null,
      url: radarItem.ad.url,
    },
  ],
  as_of: radarItem.observed_at,
};
