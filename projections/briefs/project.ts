import { arrayText } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK, unescapeBaseUrl } from '#contracts/values/base-url.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import {
  BRIEF,
  type BriefEvent,
  type BriefPrepared,
  type RadarSnapshot,
} from '#contracts/events/workspace/brief.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { projection } from '../define-projection.ts';

/** Escaped text contains neither U+0001 nor the quotes of `"url":`, so the replacement with the placeholder is safe. */
const itemText = ({ brand, ad, correction, ...rest }: RadarSnapshot): string => {
  const item = {
    ...rest,
    correction: correction ?? null,
    brand: { ...brand, url: `${BASE_URL_MARK}/v1/brands/${brand.slug}` },
    ad: { ...ad, url: `${BASE_URL_MARK}/v1/ads/${ad.id}` },
  };
  return unescapeBaseUrl(JSON.stringify(item), '"url":"');
};

const sumOf = (
  brands: BriefPrepared['data']['brands'],
  field: 'ads_started' | 'ads_stopped' | 'destinations_changed',
): number => brands.reduce((sum, brand) => sum + brand[field], 0);

export const briefs = projection<BriefEvent | BrandEvent>({
  name: 'briefs',
  version: 2,
  prefixes: [`${BRIEF}-`, 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {},
  project: (event) => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return brandReference(event);
      case 'BriefPrepared': {
        const { workspace_id, brief_id, week, from, to, brands, notable_items, prepared_at } = event.data;
        const set = {
          week,
          from_date: from,
          to_date: to,
          brands: brands.length,
          ads_started: sumOf(brands, 'ads_started'),
          ads_stopped: sumOf(brands, 'ads_stopped'),
          destinations_changed: sumOf(brands, 'destinations_changed'),
          counts: JSON.stringify(brands),
          notable: arrayText(notable_items.map(itemText)),
          prepared_at,
        };
        return [{ kind: 'upsert', table: 'brief', key: { workspace_id, brief_id }, set }];
      }
      case 'BriefRestated':
        return [];
      case 'BriefFeedbackGiven': {
        const { workspace_id, brief_id, feedback } = event.data;
        return [{ kind: 'upsert', table: 'brief', key: { workspace_id, brief_id }, set: { feedback } }];
      }
    }
  },
});
