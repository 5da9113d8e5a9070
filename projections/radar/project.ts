import { appendFields } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { derivedId } from '#contracts/values/derived-id.ts';
import type {
  AdObservationCorrected,
  AdRecord,
  Occurrence,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdExcerpt, AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { AdCounted } from '#contracts/events/corpus/ad-library-values.ts';
import { excerptOfBody } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection } from '../define-projection.ts';
import { markItem, putItem as putItemStatement } from './statements.ts';

type LibraryEvent = RecordedEvent<AdLibraryEvent>;

type ItemType = 'ad_started' | 'ad_stopped' | 'destination_changed';

/** No two items have the same ad, type and scan. */
type Item = {
  readonly id: string;
  readonly type: ItemType;
  readonly scan_id: string;
  readonly observed_at: string;
  readonly ad: AdCounted;
  readonly excerpt: AdExcerpt;
  /** Brand of the ad at that time; absent: the brand of the stream. */
  readonly brand_id?: string;
  /** True if a correction adds the item. */
  readonly is_added?: boolean;
  /** False without a stated destination; an event that states one has precedence. */
  readonly destination_url?: string | null | undefined;
  readonly previous_destination_url?: string | undefined;
  readonly basis?: 'library' | 'absence' | undefined;
  readonly stopped_on?: string | null | undefined;
};

/** Stores the occurrence and the ad as JSON. Escaped text never contains `BASE_URL_MARK`. */
const putItem = (event: LibraryEvent, item: Item): Change => {
  const { id, type, scan_id, observed_at, ad, excerpt } = item;
  const occurrence = JSON.stringify({
    type,
    observed_at,
    destination_url: item.destination_url ?? null,
    previous_destination_url: item.previous_destination_url ?? null,
    basis: item.basis ?? null,
    stopped_on: item.stopped_on ?? null,
  }).slice(1, -1);
  const about = JSON.stringify({
    id: ad.ad_id,
    page: excerpt.page_id === null ? null : { page_id: excerpt.page_id, page_name: excerpt.page_name },
    format: ad.format,
    title: excerpt.title,
    body: excerpt.body,
    started_on: ad.started_on,
  });
  const url = `"${BASE_URL_MARK}/v1/ads/${ad.ad_id}"`;
  const { position } = event;
  const brand_id = item.brand_id ?? event.data.brand_id;
  const is_added = item.is_added ?? false;
  return {
    kind: 'run',
    statement: 'put_item',
    row: {
      id,
      ad_id: ad.ad_id,
      type,
      scan_id,
      brand_id,
      observed_at,
      position,
      is_added,
      occurrence,
      ad: appendFields(about, { url }),
    },
  };
};

const TYPES: Readonly<Record<Occurrence['kind'], ItemType>> = {
  started: 'ad_started',
  stopped: 'ad_stopped',
  destination_changed: 'destination_changed',
};

/** `null` for an ad that never moved: its items have the brand of their own event. */
const statedBrand = ({ data }: RecordedEvent<AdObservationCorrected>, of: Occurrence): string | null =>
  of.brand_id ?? (data.after.placings === undefined ? null : data.brand_id);

/** Marks an item as withdrawn, or removes the mark and files the item under its brand. */
const mark = (
  event: RecordedEvent<AdObservationCorrected>,
  of: Occurrence,
  is_withdrawn: boolean,
): Change => ({
  kind: 'run',
  statement: 'mark',
  row: {
    ad_id: event.data.ad_id,
    type: TYPES[of.kind],
    scan_id: of.scan_id,
    brand_id: statedBrand(event, of),
    position: event.position,
    is_withdrawn,
  },
});

const isSameItem = (one: Occurrence, other: Occurrence): boolean =>
  one.kind === other.kind && one.scan_id === other.scan_id;

const excerptOf = ({ page_id, page_name, content }: Pick<AdRecord, 'page_id' | 'page_name' | 'content'>) => ({
  page_id,
  page_name,
  title: content.title,
  body: excerptOfBody(content.body),
});

/**
 * Withdrawn items stay with a mark, added ones are inserted with one. An item that is both gets the new details or
 * brand and a mark.
 */
const correct = (event: RecordedEvent<AdObservationCorrected>): readonly Change[] => {
  const { ad_id, after, withdrawn, added } = event.data;
  return [
    ...withdrawn
      .filter((of) => !added.some((other) => isSameItem(of, other)))
      .map((of) => mark(event, of, true)),
    ...added.flatMap((of) => {
      const type = TYPES[of.kind];
      const item = putItem(event, {
        ...of,
        id: derivedId('radar item', `${ad_id}|${type}|${of.scan_id}`),
        type,
        ad: after,
        excerpt: excerptOf(after),
        is_added: true,
        destination_url: of.to_url,
        previous_destination_url: of.from_url,
      });
      return [item, mark(event, of, false)];
    }),
  ];
};

/** Starts, confirmed ends and changed destinations of ads; only news. Withdrawn items stay with a mark. */
export const radar = projection<AdLibraryEvent | BrandEvent>({
  name: 'radar',
  version: 8,
  prefixes: ['adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: { applied_scan: recordAppliedScan, put_item: putItemStatement, mark: markItem },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return brandReference(event);
      case 'AdStarted': {
        const { data, id } = event;
        if (data.novelty !== 'news') return [];
        const { link_url: destination_url } = data.content;
        const excerpt = excerptOf(data);
        return [putItem(event, { ...data, id, type: 'ad_started', ad: data, excerpt, destination_url })];
      }
      case 'AdConfirmedInactive': {
        const { data, id } = event;
        return data.news ? [putItem(event, { ...data, id, type: 'ad_stopped', ad: data })] : [];
      }
      case 'AdDestinationChanged': {
        const { data, id } = event;
        const links = { destination_url: data.to_url, previous_destination_url: data.from_url };
        return [putItem(event, { ...data, id, type: 'destination_changed', ad: data, ...links })];
      }
      case 'ScanRecorded':
      case 'ScanCorrected':
        return [appliedScan(event)];
      case 'AdObservationCorrected':
        return correct(event);
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdReturned':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
      case 'AdsReworded':
      case 'AdAttributed':
        return [];
    }
  },
});
