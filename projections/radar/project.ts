import { appendFields } from '#contracts/values/json-text.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { derivedId } from '#contracts/values/derived-id.ts';
import type {
  AdObservationCorrected,
  AdRecord,
  Occurrence,
} from '#contracts/events/corpus/ad-library-corrections.ts';
import { type AdExcerpt, type AdLibraryEvent, excerptOfBody } from '#contracts/events/corpus/ad-library.ts';
import type { AdCounted } from '#contracts/events/corpus/ad-library-values.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { type Change, projection, type Statement } from '../define-projection.ts';

/** Takes the column from the event that reported the item; `t` is the stored row. */
const ofReport = (column: string): string =>
  `${column} = case when excluded.position < t.position then excluded.${column} else t.${column} end`;

const REPORTED = `case when excluded.position < t.position then coalesce(excluded.reported, excluded.occurrence)
  else coalesce(t.reported, t.occurrence) end`;
const STATED = 'case when excluded.stated_at > t.stated_at then excluded.occurrence else t.occurrence end';

/** The lowest log position reports an item, the highest `stated_at` tells it: streams apply in any order. */
const putItemStatement: Statement = {
  columns: {
    id: 'uuid',
    ad_id: 'text',
    type: 'text',
    scan_id: 'text',
    brand_id: 'uuid',
    observed_at: 'timestamptz',
    position: 'bigint',
    is_added: 'boolean',
    occurrence: 'text',
    ad: 'text',
  },
  touches: ['item', 'mark'],
  sql: `
    with first as materialized (
      select distinct on (ad_id, type, scan_id) * from :input i order by ad_id, type, scan_id, position
    ), last as materialized (
      select distinct on (ad_id, type, scan_id) ad_id, type, scan_id, position as stated_at, occurrence as stated
      from :input i order by ad_id, type, scan_id, position desc
    )
    insert into item as t (id, brand_id, observed_at, type, ad_id, scan_id, position, stated_at, is_added, is_withdrawn,
      occurrence, ad, reported, reported_brand_id)
    select f.id, coalesce(m.brand_id, f.brand_id), f.observed_at, f.type, f.ad_id, f.scan_id, f.position, l.stated_at,
      f.is_added, coalesce(m.is_withdrawn, false), l.stated, f.ad, nullif(f.occurrence, l.stated), f.brand_id
    from first f join last l using (ad_id, type, scan_id) left join mark m using (ad_id, type, scan_id)
    on conflict (ad_id, type, scan_id) do update set
      ${['id', 'is_added', 'ad', 'reported_brand_id'].map(ofReport).join(', ')},
      occurrence = ${STATED}, reported = nullif(${REPORTED}, ${STATED}),
      position = least(t.position, excluded.position), stated_at = greatest(t.stated_at, excluded.stated_at)
    where excluded.position < t.position or excluded.stated_at > t.stated_at`,
};

/** The event with the highest log position decides, also on the brand of the item. */
const markItem: Statement = {
  columns: {
    ad_id: 'text',
    type: 'text',
    scan_id: 'text',
    brand_id: 'uuid',
    position: 'bigint',
    is_withdrawn: 'boolean',
  },
  touches: ['item', 'mark'],
  sql: `
    with marked as (
      insert into mark as m (ad_id, type, scan_id, brand_id, position, is_withdrawn)
      select distinct on (ad_id, type, scan_id) ad_id, type, scan_id, brand_id, position, is_withdrawn
      from :input i order by ad_id, type, scan_id, position desc
      on conflict (ad_id, type, scan_id) do update set brand_id = coalesce(excluded.brand_id, m.brand_id),
        position = excluded.position, is_withdrawn = excluded.is_withdrawn
      where excluded.position > m.position
      returning *
    )
    update item t set is_withdrawn = m.is_withdrawn, brand_id = coalesce(m.brand_id, t.brand_id) from marked m
    where t.ad_id = m.ad_id and t.type = m.type and t.scan_id = m.scan_id`,
};

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
