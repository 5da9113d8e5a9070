import type { DeliveryKind, EndpointChannel } from '#contracts/values/alerts.ts';
import type { PageRole } from '#contracts/observations/social-page-link.ts';
import { observedLink } from '#contracts/values/links/observed-link.ts';
import type { AlertItem, AlertPayload } from '#contracts/webhooks/alert-payload.ts';
import type { TriggerEvent, Period } from './match-events.ts';
import type { AlertRule } from './rule-decider.ts';

/** Payloads of alert deliveries, with one sentence per item. */

export type BrandName = {
  readonly brand_id: string;
  readonly slug: string;
  readonly name: string;
  readonly logo_url: string | null;
};

/** Longer texts of ads are cut, with an ellipsis. */
const WORDS_MAX = 80;
const LINK_MAX = 120;

const truncate = (text: string, max: number): string => {
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
};

const quoteText = (words: string | null): string => {
  const line = words?.replaceAll(/\s+/g, ' ').trim() ?? '';
  return line === '' ? '.' : `: “${truncate(line, WORDS_MAX)}”`;
};

/** Events from before the check of links hold links that must not be sent. */
const linkOf = (url: string | null): string | null => url && observedLink(url);

const describeLink = (url: string | null): string =>
  url === null ? 'no page' : truncate(linkOf(url) ?? 'a link that is not shown', LINK_MAX);

const ROLE_WORDS: Readonly<Record<PageRole, string>> = {
  OFFICIAL: 'an official page',
  REGIONAL: 'a regional page',
  CREATOR: "a creator's page",
  PARTNER: "a partner's page",
  RESELLER: "a reseller's page",
  UNVERIFIED: 'a page of unverified standing',
};

const describePage = ({ page_name, page_id }: TriggerEvent): string =>
  page_name === null
    ? `the page ${page_id ?? 'without an id'}`
    : `the page “${truncate(page_name, WORDS_MAX)}”`;

const capitalize = (sentence: string): string => `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;

/** States the observation only, never a reason or an owner. */
const describe = (happening: TriggerEvent, brand: BrandName): string => {
  const { type, words, role, basis, destination_url, previous_destination_url } = happening;
  switch (type) {
    case 'ad_started':
      return `${brand.name} was observed running a new ad${quoteText(words)}`;
    case 'ad_stopped':
      return basis === 'library'
        ? `The library shows an ad of ${brand.name} as ended${quoteText(words)}`
        : `An ad of ${brand.name} was absent from two complete scans in a row${quoteText(words)}`;
    case 'destination_changed':
      return `An ad of ${brand.name} links to ${describeLink(destination_url)} and no longer to ${describeLink(previous_destination_url)}`;
    case 'page_linked':
      return capitalize(
        `${describePage(happening)} was observed as ${ROLE_WORDS[role ?? 'UNVERIFIED']} of ${brand.name}.`,
      );
    case 'partner_started':
      return role === null
        ? `An ad of ${brand.name} was observed on ${describePage(happening)} for the first time${quoteText(words)}`
        : capitalize(
            `${describePage(happening)} was observed as ${ROLE_WORDS[role]} of ${brand.name} for the first time.`,
          );
    case 'activity':
      return words ?? '';
  }
};

const itemUrl = ({ ad_id }: TriggerEvent, brand: BrandName, baseUrl: string): string =>
  ad_id === null ? `${baseUrl}/v1/brands/${brand.slug}/social-pages` : `${baseUrl}/v1/ads/${ad_id}`;

export const toBrandReference = (brand: BrandName, baseUrl: string): AlertItem['brand'] => ({
  id: brand.brand_id,
  slug: brand.slug,
  name: brand.name,
  logo_url: linkOf(brand.logo_url),
  url: `${baseUrl}/v1/brands/${brand.slug}`,
});

export const alertItem = (happening: TriggerEvent, brand: BrandName, baseUrl: string): AlertItem => ({
  id: happening.id,
  type: happening.type,
  observed_at: happening.observed_at,
  brand: toBrandReference(brand, baseUrl),
  title: describe(happening, brand),
  ad_id: happening.ad_id,
  page_id: happening.page_id,
  destination_url: linkOf(happening.destination_url),
  previous_destination_url: linkOf(happening.previous_destination_url),
  signal: null,
  url: itemUrl(happening, brand, baseUrl),
});

export type ActivitySignal = {
  readonly id: string;
  readonly kind: string;
  readonly observed_at: string;
  /** Never states a reason. */
  readonly summary: string;
};

export const signalItem = (
  { id, kind, observed_at, summary }: ActivitySignal,
  brand: BrandName,
  workspaceId: string,
  baseUrl: string,
): AlertItem => ({
  id,
  type: 'activity',
  observed_at,
  brand: toBrandReference(brand, baseUrl),
  title: `${brand.name}: ${summary}`,
  ad_id: null,
  page_id: null,
  destination_url: null,
  previous_destination_url: null,
  signal: kind,
  url: `${baseUrl}/v1/workspaces/${workspaceId}/radar/signals`,
});

export type DeliveryContent = {
  readonly items: readonly AlertItem[];
  readonly items_total: number;
  readonly as_of: string;
};

const TYPE_OF = {
  alert: 'alert.matched',
  digest: 'alert.digest',
  test: 'alert.test',
  notice: 'alert.suspended',
} as const satisfies Readonly<Record<DeliveryKind, AlertPayload['type']>>;

export const alertPayload = (input: {
  readonly delivery_id: string;
  readonly kind: DeliveryKind;
  readonly rule: Pick<AlertRule, 'workspace_id' | 'alert_id' | 'name' | 'trigger' | 'cadence'>;
  readonly matched: DeliveryContent;
  readonly period: Period | null;
  readonly at: string;
  /** The suspended channel; only in a notice. */
  readonly suspended_channel?: EndpointChannel;
}): AlertPayload => {
  const { delivery_id, kind, rule, matched, period, at, suspended_channel } = input;
  return {
    id: delivery_id,
    type: TYPE_OF[kind],
    kind,
    created_at: at,
    workspace_id: rule.workspace_id,
    alert: { id: rule.alert_id, name: rule.name, trigger: rule.trigger, cadence: rule.cadence },
    period: period && { from: period.from, to: period.to },
    items_total: matched.items_total,
    items: [...matched.items],
    as_of: matched.as_of,
    ...(suspended_channel === undefined ? {} : { suspended_channel }),
  };
};
