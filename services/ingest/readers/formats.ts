import { readAdsArchiveCsv, readWebCsv } from './formats/csv-ads.ts';
import { readJsonAds } from './formats/json-ads.ts';
import { readRankList } from './formats/rank-list.ts';
import type { Reader } from './record.ts';
import type { SideNeeds, SideReader } from './side-record.ts';
import { readStorefrontJson } from './formats/storefront-json.ts';
import { readTaxonomyText } from './formats/taxonomy-text.ts';
import { readTechnologiesJson } from './formats/technologies-json.ts';

export const READERS = {
  'ads-archive-json': { read: readJsonAds('ads-archive-json'), collector: 'ads-archive-api', syntax: 'json' },
  'ads-archive-csv': { read: readAdsArchiveCsv, collector: 'ads-archive-csv', syntax: 'csv' },
  'web-csv': { read: readWebCsv, collector: 'library-web', syntax: 'csv' },
  'web-graphql': { read: readJsonAds('web-graphql'), collector: 'library-web', syntax: 'json' },
  'actor-camel-case': { read: readJsonAds('actor-camel-case'), collector: 'library-web', syntax: 'json' },
  'web-2024': { read: readJsonAds('web-2024'), collector: 'library-web-2024', syntax: 'json' },
} as const satisfies {
  readonly [format: string]: { read: Reader; collector: string; syntax: 'json' | 'csv' };
};

export type PlainFormat = keyof typeof READERS;

export const SIDE_READERS = {
  'rank-list': { read: readRankList, needs: { brand: false } },
  'storefront-json': { read: readStorefrontJson, needs: { brand: true } },
  'technologies-json': { read: readTechnologiesJson, needs: { brand: false } },
  'taxonomy-text': { read: readTaxonomyText, needs: { brand: false } },
} as const satisfies { readonly [format: string]: { read: SideReader; needs: SideNeeds } };

export type SideFormat = keyof typeof SIDE_READERS;

/** `mapped-csv` and `mapped-json` require a mapping file; `observations` are this service's own. */
export const FORMATS = [
  ...(Object.keys(READERS) as PlainFormat[]),
  ...(Object.keys(SIDE_READERS) as SideFormat[]),
  'mapped-csv',
  'mapped-json',
  'observations',
] as const;
export type FormatName = (typeof FORMATS)[number];
