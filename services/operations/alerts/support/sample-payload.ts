import type { AlertTrigger } from '#contracts/values/alerts.ts';
import type { AlertItem, AlertItemType, AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';

/** Item type and title per trigger. The sample brand, ad and page do not exist in this service. */
const SAMPLES: Readonly<Record<AlertTrigger, readonly [AlertItemType, string]>> = {
  new_ads: ['ad_started', 'Sample: an ad was observed for the first time.'],
  stopped_ads: ['ad_stopped', 'Sample: the library shows an ad as ended.'],
  page_changes: ['destination_changed', 'Sample: an ad links somewhere else.'],
  new_partners: ['partner_started', "Sample: an ad was observed on a creator's page for the first time."],
  activity: ['activity', 'Sample: more active ads than a week before.'],
};

const itemOf = (
  deliveryId: string,
  { trigger, workspace_id }: AlertRule,
  at: string,
  baseUrl: string,
): AlertItem => {
  const [type, title] = SAMPLES[trigger];
  const slug = 'sample-example';
  return {
    id: derivedId('sample item', deliveryId),
    type,
    observed_at: at,
    brand: {
      id: brandIdOf('sample.example'),
      slug,
      name: 'Sample brand',
      logo_url: null,
      url: `${baseUrl}/v1/brands/${slug}`,
    },
    title,
    ad_id: null,
    page_id: null,
    destination_url: type === 'destination_changed' ? 'https://sample.example/now' : null,
    previous_destination_url: type === 'destination_changed' ? 'https://sample.example/before' : null,
    signal: type === 'activity' ? 'ramp' : null,
    url: `${baseUrl}/v1/workspaces/${workspace_id}/radar`,
  };
};

/** Shapes the sample like a real delivery and marks its only item as a sample. */
export const samplePayload = (
  deliveryId: string,
  rule: AlertRule,
  at: string,
  baseUrl: string,
): AlertPayload => ({
  id: deliveryId,
  type: 'alert.test',
  kind: 'test',
  created_at: at,
  workspace_id: rule.workspace_id,
  alert: { id: rule.alert_id, name: rule.name, trigger: rule.trigger, cadence: rule.cadence },
  period: null,
  items_total: 1,
  items: [itemOf(deliveryId, rule, at, baseUrl)],
  as_of: at,
});
