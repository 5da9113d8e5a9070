import type { CreativeEvent, CreativeMedia, CreativeReading } from '#contracts/events/corpus/creative.ts';
import { CUT_MARK, cutList, cutTextToBytes } from '#contracts/values/text.ts';
import { utcDate } from '#contracts/values/time.ts';
import type { AdRecord } from '#contracts/events/corpus/ad-library-corrections.ts';
import type { AdLibraryEvent } from '#contracts/events/corpus/ad-library.ts';
import type { BrandEvent } from '#contracts/events/corpus/brand.ts';
import { creativeIdOf } from '#contracts/values/media/creatives.ts';
import type { RecordedEvent } from '#contracts/events/event.ts';
import { sha256OfMediaKey } from '#contracts/values/media/stored-media.ts';
import { type Change, type Row, projection } from '../define-projection.ts';
import { appliedScan, recordAppliedScan } from '../shared-tables/applied-scan.ts';
import { brandReference } from '../shared-tables/brand-reference.ts';
import { enterHashes, findNearHashes } from './pictures.ts';
import {
  carry,
  dateFile,
  move,
  recountScope,
  refreshFile,
  refreshFilesOfAd,
  refreshFilesOfBrand,
} from './statements.ts';

/**
 * The parts of a reading that a word search covers. Postgres refuses a word index of more than 1,048,575 bytes, and one
 * byte of text may need four, since hyphenated words are indexed whole and in parts.
 */

/** Maximum bytes as JSON. Transcript and corrections share one index. */
const TRANSCRIPT_MAX_BYTES = 200_000;
const CORRECTIONS_MAX_BYTES = 60_000;
const SHOWN_TEXTS_MAX_BYTES = 260_000;

/** Returns the items that fit; `null` when all do. */
const partOf = <Item>(
  items: readonly Item[] | null,
  maxBytes: number,
  mark: Item,
): readonly Item[] | null => {
  if (items === null) return null;
  const part = cutList(items, { maxItems: Number.POSITIVE_INFINITY, maxBytes, mark });
  return part.length === items.length && part.at(-1) !== mark ? null : part;
};

/** Each column `searched_…` holds the part that fits, or `null` when the whole fits. */
export const searchedParts = ({
  transcript,
  corrections,
  shown_texts,
}: Pick<Partial<CreativeReading>, 'transcript' | 'corrections' | 'shown_texts'>): Row => {
  const transcriptPart = transcript == null ? null : cutTextToBytes(transcript, TRANSCRIPT_MAX_BYTES);
  return {
    ...(transcript === undefined
      ? {}
      : { searched_transcript: transcriptPart === transcript ? null : transcriptPart }),
    ...(corrections === undefined
      ? {}
      : {
          searched_corrections: partOf(corrections, CORRECTIONS_MAX_BYTES, {
            heard: CUT_MARK,
            meant: CUT_MARK,
          }),
        }),
    ...(shown_texts === undefined
      ? {}
      : { searched_shown_texts: partOf(shown_texts, SHOWN_TEXTS_MAX_BYTES, CUT_MARK) }),
  };
};

type AdMove = {
  readonly ad_id: string;
  /** `null` then clears a column instead of keeping it. */
  readonly is_full?: boolean;
  readonly active?: boolean;
  readonly listed_on?: string | null;
  readonly format?: string | null | undefined;
  readonly cta_type?: string | null | undefined;
};

/** `null` and absent fields stay. Files are refreshed only if the ad starts, ends or gets another list date. */
const moveAd = (event: RecordedEvent<AdLibraryEvent>, ad: AdMove): readonly Change[] => {
  const { ad_id, is_full = false, active = null, listed_on = null, format = null, cta_type = null } = ad;
  if (active === null && listed_on === null && format === null && cta_type === null) return [];
  const { brand_id } = event.data;
  const row: Row = {
    ad_id,
    brand_id,
    position: event.position,
    is_full,
    active,
    listed_on,
    format,
    cta_type,
  };
  return [
    { kind: 'run', statement: 'move', row },
    ...(active === null && listed_on === null
      ? []
      : [{ kind: 'refresh', statement: 'refresh_of_ad', row: { ad_id } } as const]),
  ];
};

const replaceAd = (event: RecordedEvent<AdLibraryEvent>, ad: AdRecord): readonly Change[] =>
  moveAd(event, {
    ad_id: ad.ad_id,
    is_full: true,
    active: ad.status !== 'inactive',
    listed_on: ad.started_on ?? utcDate(ad.first_seen_at),
    format: ad.format,
    cta_type: ad.content.cta_type,
  });

const projectAd = (event: RecordedEvent<AdLibraryEvent>): readonly Change[] => {
  switch (event.type) {
    case 'AdStarted': {
      const { ad_id, started_on, observed_at, format, content } = event.data;
      const listed_on = started_on ?? utcDate(observed_at);
      return moveAd(event, {
        ad_id,
        is_full: true,
        active: true,
        listed_on,
        format,
        cta_type: content.cta_type,
      });
    }
    case 'AdRevised': {
      const { ad_id, changes } = event.data;
      return moveAd(event, { ad_id, format: changes.format?.to, cta_type: changes.cta_type?.to });
    }
    case 'AdDetailsObserved': {
      const { ad_id, started_on, details } = event.data;
      return moveAd(event, {
        ad_id,
        listed_on: started_on,
        format: details.format,
        cta_type: details.cta_type,
      });
    }
    case 'AdObservationCorrected':
      return replaceAd(event, event.data.after);
    case 'AdAttributed': {
      const { brand_id, from_brand_id, to_brand_id, ad } = event.data;
      // The stream of the earlier brand has the event too. Only one of the two may replace the ad.
      if (brand_id !== to_brand_id) return [];
      const recount = (of: string): Change => ({
        kind: 'refresh',
        statement: 'recount_scope',
        row: { brand_id: of },
      });
      return [...replaceAd(event, ad), recount(from_brand_id), recount(to_brand_id)];
    }
    case 'AdsReworded':
      return event.data.ads.flatMap(({ ad_id, format, wording }) =>
        moveAd(event, { ad_id, format, cta_type: wording.cta_type }),
      );
    case 'AdConfirmedInactive':
      return moveAd(event, { ad_id: event.data.ad_id, active: false });
    case 'AdReturned':
      return moveAd(event, { ad_id: event.data.ad_id, active: true });
    case 'AdDestinationChanged':
    case 'AdsMissed':
    case 'AdsSeen':
    case 'AdsStillInactive':
      return [];
    case 'ScanRecorded':
    case 'ScanCorrected':
      return [appliedScan(event)];
  }
};

const carriages = (
  creative_key: string,
  ad_ids: readonly string[],
  first_seen_at: string,
): readonly Change[] =>
  ad_ids.map((ad_id) => ({
    kind: 'run',
    statement: 'carry',
    row: { creative_key, ad_id, creative_id: creativeIdOf(ad_id, creative_key), first_seen_at },
  }));

const readingColumns = ({ fields, ...reading }: Partial<CreativeReading>): Row => ({
  ...reading,
  ...searchedParts(reading),
  ...fields,
});

/** A poster's key becomes `null` unless it names a media file. */
const mediaColumns = (media: Partial<CreativeMedia>): Row => {
  const { perceptual_hash, thumb_object_key, poster_object_key, ...measured } = media;
  return {
    ...measured,
    ...(perceptual_hash === undefined ? {} : { perceptual_hash }),
    ...(thumb_object_key === undefined ? {} : { thumb_object_key }),
    ...(poster_object_key === undefined
      ? {}
      : { poster_object_key: sha256OfMediaKey(poster_object_key) === null ? null : poster_object_key }),
  };
};

const projectFile = (event: CreativeEvent): readonly Change[] => {
  const { creative_key, observed_at } = event.data;
  const upsert = (set: Row): readonly Change[] =>
    Object.keys(set).length === 0 ? [] : [{ kind: 'upsert', table: 'file', key: { creative_key }, set }];
  const date = (times: Partial<Record<'stored_at' | 'measured_at' | 'read_at', string>>): Change => ({
    kind: 'run',
    statement: 'date_file',
    row: { creative_key, stored_at: null, measured_at: null, read_at: null, ...times },
  });
  const refresh = (statement: string): Change => ({ kind: 'refresh', statement, row: { creative_key } });
  /** Enters a changed hash before the file is refreshed. */
  const refreshed = (hasOtherHash: boolean): readonly Change[] => [
    ...(hasOtherHash ? [refresh('enter_hashes'), refresh('find_near_hashes')] : []),
    refresh('refresh_file'),
  ];
  switch (event.type) {
    case 'CreativeStored': {
      const { media, ad_ids } = event.data;
      return [
        ...upsert(mediaColumns(media)),
        date({ stored_at: observed_at, measured_at: observed_at }),
        ...carriages(creative_key, ad_ids, observed_at),
        ...refreshed(typeof media.perceptual_hash === 'string'),
      ];
    }
    case 'CreativeMeasured': {
      const { changes } = event.data;
      const hasOtherHash = changes.perceptual_hash !== undefined || changes.media_kind !== undefined;
      return [
        ...upsert(mediaColumns(changes)),
        date({ measured_at: observed_at }),
        ...refreshed(hasOtherHash),
      ];
    }
    case 'CreativeCarried':
      return [
        ...carriages(creative_key, event.data.ad_ids, observed_at),
        date({ stored_at: observed_at }),
        ...refreshed(false),
      ];
    case 'CreativeAnalysed':
      return [
        ...upsert(readingColumns(event.data.changes)),
        date({ read_at: observed_at }),
        ...refreshed(false),
      ];
  }
};

const projectBrand = (event: BrandEvent): readonly Change[] => {
  const { brand_id } = event.data;
  const { is_public } = event.type === 'BrandRegistered' ? event.data : event.data.changes;
  if (is_public === undefined) return brandReference(event);
  return [
    ...brandReference(event),
    { kind: 'upsert', table: 'brand', key: { brand_id }, set: { is_public } },
    { kind: 'refresh', statement: 'refresh_of_brand', row: { brand_id } },
  ];
};

export const creatives = projection<CreativeEvent | AdLibraryEvent | BrandEvent>({
  name: 'creatives',
  version: 12,
  prefixes: ['creative-', 'adLibrary-', 'brand-'],
  schema: new URL('./schema.sql', import.meta.url),
  statements: {
    applied_scan: recordAppliedScan,
    move,
    carry,
    date_file: dateFile,
    enter_hashes: enterHashes,
    find_near_hashes: findNearHashes,
    refresh_file: refreshFile,
    refresh_of_ad: refreshFilesOfAd,
    refresh_of_brand: refreshFilesOfBrand,
    recount_scope: recountScope,
  },
  project: (event): readonly Change[] => {
    switch (event.type) {
      case 'BrandRegistered':
      case 'BrandProfileChanged':
        return projectBrand(event);
      case 'CreativeStored':
      case 'CreativeMeasured':
      case 'CreativeCarried':
      case 'CreativeAnalysed':
        return projectFile(event);
      case 'AdStarted':
      case 'AdRevised':
      case 'AdDetailsObserved':
      case 'AdDestinationChanged':
      case 'AdConfirmedInactive':
      case 'AdReturned':
      case 'AdsMissed':
      case 'AdsSeen':
      case 'AdsStillInactive':
      case 'AdsReworded':
      case 'AdObservationCorrected':
      case 'AdAttributed':
      case 'ScanCorrected':
      case 'ScanRecorded':
        return projectAd(event);
    }
  },
});
