import { ANALYSIS_DEPTHS } from '#contracts/values/creatives.ts';
import type { CreativeEvent, CreativeMedia, CreativeReading } from '#contracts/events/corpus/creative.ts';
import type { CreativeAnalysis, CreativeFile } from '#contracts/observations/creative.ts';
import type { Decider } from '../decider.ts';
import { boundedGroups, BULK_IDS_MAX } from '../event-size-limit.ts';
import { PersistentMap } from '../persistent-map.ts';

/**
 * Aggregate creative, stream `creative-<creativeKey>`: one media file of ads, its measurements and its analysis.
 * Parts, in order: state, evolve, decisions (`recordCreativeFile`, `recordCreativeAnalysis`).
 */

/** One media file. An analysis may be recorded before the file is measured. */
export type CreativeState = {
  readonly media: CreativeMedia | null;
  readonly measured_at: string | null;
  readonly ad_ids: PersistentMap<true>;
  readonly reading: Partial<CreativeReading>;
  readonly read_at: string | null;
};

const initial: CreativeState = {
  media: null,
  measured_at: null,
  ad_ids: PersistentMap.empty<true>(),
  reading: {},
  read_at: null,
};

const withAds = (ads: PersistentMap<true>, ids: readonly string[]): PersistentMap<true> =>
  ids.reduce((existing, id) => existing.with(id, true), ads);

const withReading = (
  existing: Partial<CreativeReading>,
  changes: Partial<CreativeReading>,
): Partial<CreativeReading> => ({
  ...existing,
  ...changes,
  ...(changes.fields ? { fields: { ...existing.fields, ...changes.fields } } : {}),
});

const evolve = (state: CreativeState, event: CreativeEvent): CreativeState => {
  switch (event.type) {
    case 'CreativeStored': {
      const { media, ad_ids, observed_at } = event.data;
      return { ...state, media, measured_at: observed_at, ad_ids: withAds(state.ad_ids, ad_ids) };
    }
    case 'CreativeMeasured':
      return {
        ...state,
        media: state.media && { ...state.media, ...event.data.changes },
        measured_at: event.data.observed_at,
      };
    case 'CreativeCarried':
      return { ...state, ad_ids: withAds(state.ad_ids, event.data.ad_ids) };
    case 'CreativeAnalysed':
      return {
        ...state,
        reading: withReading(state.reading, event.data.changes),
        read_at: event.data.observed_at,
      };
  }
};

export const creative: Decider<CreativeState, CreativeEvent> = { initial, evolve };

/** Returns the ids in the groups that one event holds each. */
const inEvents = (ids: readonly string[]): readonly (readonly string[])[] =>
  boundedGroups(ids, Number.POSITIVE_INFINITY, BULK_IDS_MAX);

/** Returns the stated fields that are not blank or absent, and differ from the existing ones. */
const differingFields = <Existing extends object>(existing: Existing, stated: object): Partial<Existing> => {
  const before = existing as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(stated).filter(
      ([field, value]) => value != null && JSON.stringify(before[field]) !== JSON.stringify(value),
    ),
  ) as Partial<Existing>;
};

/** Returns the keys in the object store that end when the stored file is removed. */
const endedKeys = (media: CreativeMedia): Partial<CreativeMedia> => ({
  ...(media.object_key == null ? {} : { object_key: null }),
  ...(media.thumb_object_key == null ? {} : { thumb_object_key: null }),
  ...(media.poster_object_key == null ? {} : { poster_object_key: null }),
});

/**
 * Stores the file at its first observation. A later observation changes the media properties, unless it is older than
 * the last measurement. It always adds its ads: an ad that carried the file once counts at any observation time.
 */
export const recordCreativeFile =
  (observation: CreativeFile) =>
  (state: CreativeState): CreativeEvent[] => {
    const { type: _type, creative_key, observed_at, ad_ids, removed, ...media } = observation;
    const carry = (ids: readonly string[]): CreativeEvent => ({
      type: 'CreativeCarried',
      data: { creative_key, observed_at, ad_ids: ids },
    });
    if (state.media === null) {
      if (removed) return [];
      const [first = [], ...further] = inEvents([...new Set(ad_ids)]);
      return [
        { type: 'CreativeStored', data: { creative_key, observed_at, media, ad_ids: first } },
        ...further.map(carry),
      ];
    }
    const isOlder = state.measured_at !== null && observed_at < state.measured_at;
    const observed = removed ? endedKeys(state.media) : differingFields(state.media, media);
    const changes = isOlder ? {} : observed;
    const carriers = [...new Set(ad_ids)].filter((id) => !state.ad_ids.get(id));
    return [
      ...(Object.keys(changes).length === 0
        ? []
        : [{ type: 'CreativeMeasured', data: { creative_key, observed_at, changes } } as const]),
      ...inEvents(carriers).map(carry),
    ];
  };

/** True when the analysis goes deeper than before. The depth never falls, because earlier results are kept. */
const isDeeper = (
  existing: CreativeReading['depth'] | undefined,
  stated: CreativeReading['depth'],
): boolean => existing === undefined || ANALYSIS_DEPTHS.indexOf(stated) > ANALYSIS_DEPTHS.indexOf(existing);

/** Records the analysis of a file. An analysis older than the last one changes nothing. */
export const recordCreativeAnalysis =
  (observation: CreativeAnalysis) =>
  (state: CreativeState): CreativeEvent[] => {
    const { type: _type, creative_key, observed_at, depth, fields, ...stated } = observation;
    if (state.read_at !== null && observed_at < state.read_at) return [];
    const existing = state.reading;
    const newFields = differingFields(existing.fields ?? {}, fields ?? {});
    const changes: Partial<CreativeReading> = {
      ...differingFields(existing, stated),
      ...(isDeeper(existing.depth, depth) ? { depth } : {}),
      ...(Object.keys(newFields).length === 0 ? {} : { fields: newFields }),
    };
    if (Object.keys(changes).length === 0) return [];
    return [{ type: 'CreativeAnalysed', data: { creative_key, observed_at, changes } }];
  };
