import { appendFields } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import type { AdCounted, AdExcerpt, AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import { excerptOfBody } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection } from '../define-projection.ts';

type Extra = {
  readonly destination_url?: string | null;
  readonly previous_destination_url?: string;
  readonly basis?: 'library' | 'absence';
  readonly stopped_on?: string | null;
};

/**
 * Returns an item without its brand. `BASE_URL_MARK` is the placeholder for the service's base URL; escaped text never
 * contains it.
 */
const item = (
  event: RecordedEvent<AdLibraryEvent>,
  type: 'ad_started' | 'ad_stopped' | 'destination_changed',
  ad: AdCounted,
  excerpt: AdExcerpt,
  extra: Extra,
): Change => {
  const { brand_id, observed_at } = event.data;
  const rest = JSON.stringify({
    id: event.id,
    type,
    observed_at,
    destination_url: extra.destination_url ?? null,
    previous_destination_url: extra.previous_destination_url ?? null,
    basis: extra.basis ?? null,
    stopped_on: extra.stopped_on ?? null,
  });
  const about = JSON.stringify({
    id: ad.ad_id,
    page: excerpt.page_id === null ? null : { page_id: excerpt.page_id, page_name: excerpt.page_name },
    format: ad.format,
    title: excerpt.title,
    body: excerpt.body,
    started_on: ad.started_on,
  });
  const url = `"${BASE_URL_MARK}/v1/ads/${ad.ad_id}"`;
  const doc = appendFields(rest, { ad: appendFields(about, { url }) });
  return { kind: 'insert', table: 'item', row: { id: event.id, brand_id, observed_at, type, doc } };
};

/** Changes of brands: ads started, ads confirmed inactive, destinations changed. Only news. */
export const radar = projection<AdLibraryEvent | BrandEvent>({
  name: 'radar',
  version: 3,
  prefixes: ['adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: { applied_scan: recordAppliedScan },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return brandReference(event);
      case 'AdStarted': {
        const { data } = event;
        if (data.novelty !== 'news') return [];
        const { title, body, link_url } = data.content;
        const excerpt = {
          page_id: data.page_id,
          page_name: data.page_name,
          title,
          body: excerptOfBody(body),
        };
        return [item(event, 'ad_started', data, excerpt, { destination_url: link_url })];
      }
      case 'AdConfirmedInactive': {
        const { data } = event;
        const { basis, stopped_on } = data;
        return data.news ? [item(event, 'ad_stopped', data, data.excerpt, { basis, stopped_on })] : [];
      }
      case 'AdDestinationChanged': {
        const { data } = event;
        const extra = { destination_url: data.to_url, previous_destination_url: data.from_url };
        return [item(event, 'destination_changed', data, data.excerpt, extra)];
      }
      case 'ScanRecorded':
        return [appliedScan(event)];
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdReturned':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsReworded':
      case 'AdObservationCorrected':
      case 'AdAttributed':
      case 'ScanCorrected':
        return [];
      default:
        event satisfies never;
        return [];
    }
  },
});
