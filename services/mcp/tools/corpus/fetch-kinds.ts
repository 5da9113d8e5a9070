import type { Scope } from '#contracts/values/access/scopes.ts';
import { getAd } from '#operations/ads.ts';
import { getBrand } from '#operations/brands/brands.ts';
import { getBrief } from '#operations/briefs.ts';
import { getCategory, getCategoryStats } from '#operations/categories.ts';
import { getCreativeRecord } from '#operations/creative-records.ts';
import { listAdCreatives } from '#operations/creatives.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { getOperator } from '#operations/operators.ts';
import { getPage } from '#operations/pages.ts';
import { getTool } from '#operations/tools.ts';
import { NO_MONEY, NOT_SEEN, SHARED_PAGES } from '../../output/notes.ts';
import type { JsonObject } from '../../output/observed.ts';

export type FetchKind = {
  readonly endpoint: Endpoint;
  readonly parameter: string;
  /** A second endpoint with the same parameter, and its field. */
  readonly more?: { readonly field: string; readonly endpoint: Endpoint };
  /** True when the top-level names are the service's own. */
  readonly isOwn?: boolean;
  readonly hasImages?: boolean;
  /** Must not contain text of advertisers. */
  readonly title: (record: JsonObject, key: string) => string;
  readonly notes: readonly string[];
};

const KEY_SHOWN = 12;
const word = (value: unknown): string => (typeof value === 'string' ? value : '');

export const FETCH_KINDS: Readonly<Record<string, FetchKind>> = {
  brand: {
    endpoint: getBrand,
    parameter: 'brandId',
    title: ({ domain }) => `Brand ${word(domain)}`,
    notes: [NOT_SEEN, NO_MONEY],
  },
  ad: {
    endpoint: getAd,
    parameter: 'adId',
    more: { field: 'creatives', endpoint: listAdCreatives },
    hasImages: true,
    title: ({ format }, key) => `Ad ${key} (${word(format)})`,
    notes: [NOT_SEEN, NO_MONEY],
  },
  page: {
    endpoint: getPage,
    parameter: 'pageId',
    title: (_, key) => `Landing page ${key}`,
    notes: [NOT_SEEN],
  },
  creative: {
    endpoint: getCreativeRecord,
    parameter: 'creativeKey',
    hasImages: true,
    title: ({ media_kind: kind }, key) => `Creative ${key.slice(0, KEY_SHOWN)} (${word(kind)})`,
    notes: [NO_MONEY],
  },
  category: {
    endpoint: getCategory,
    parameter: 'categoryId',
    more: { field: 'stats', endpoint: getCategoryStats },
    isOwn: true,
    title: ({ name }) => `Category ${word(name)}`,
    notes: [NOT_SEEN],
  },
  operator: {
    endpoint: getOperator,
    parameter: 'operatorId',
    title: (_, key) => `Operator ${key}`,
    notes: [SHARED_PAGES],
  },
  tool: {
    endpoint: getTool,
    parameter: 'toolSlug',
    isOwn: true,
    title: ({ name }) => `Tool ${word(name)}`,
    notes: ['A tool that was not detected may still be used.'],
  },
  brief: {
    endpoint: getBrief,
    parameter: 'briefId',
    title: ({ week }) => `Weekly brief ${word(week)}`,
    notes: [NOT_SEEN, NO_MONEY],
  },
};

export const endpointsOf = ({ endpoint, more }: FetchKind): readonly Endpoint[] =>
  more ? [endpoint, more.endpoint] : [endpoint];

export const scopesOfKind = (kind: FetchKind): readonly Scope[] => [
  ...new Set(endpointsOf(kind).map(({ scope }) => scope)),
];
