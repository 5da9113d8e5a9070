import { ANALYSIS_DEPTHS } from '#contracts/values/media/creatives.ts';
import type { CreativeEvent, CreativeMedia, CreativeReading } from '#contracts/events/corpus/creative.ts';
import type { CreativeAnalysis, CreativeFile } from '#contracts/observations/creative.ts';
import {
  compareFields,
  earlierOf,
  type FieldTimes,
  isNews,
  withoutBlanks,
  withTimes,
} from './dated-fields.ts';
import type { Decider } from '../decider.ts';
import { boundedGroups, BULK_IDS_MAX } from '../event-size-limit.ts';
import { PersistentMap } from '../persistent-map.ts';

/** An analysis, or the removal of the stored file, may precede the measurement. */
export type CreativeState = {
  readonly media: CreativeMedia | null;
  readonly media_times: FieldTimes;
  /** With the time of the oldest sighting. */
  readonly ad_ids: PersistentMap<string>;
  readonly reading: Partial<CreativeReading>;
  /** Fields inside `fields` have times of their own, `fields.hook`. */
  readonly reading_times: FieldTimes;
  readonly read_at: string | null;
};

const initial: CreativeState = {
  media: null,
  media_times: {},
  ad_ids: PersistentMap.empty<string>(),
  reading: {},
  reading_times: {},
  read_at: null,
};

const withAds = (
  ads: PersistentMap<string>,
  ids: readonly string[],
  observedAt: string,
): PersistentMap<string> =>
  ids.reduce((existing, id) => existing.with(id, earlierOf(existing.get(id) ?? null, observedAt)), ads);

type ReadingFields = Readonly<Record<string, unknown>>;
const FIELD = 'fields.';

const readingFieldsOf = ({ fields, ...reading }: Partial<CreativeReading>): ReadingFields => ({
  ...withoutBlanks(reading),
  ...Object.fromEntries(
    Object.entries(withoutBlanks(fields ?? {})).map(([field, value]) => [`${FIELD}${field}`, value]),
  ),
});

const readingOf = (flat: ReadingFields): Partial<CreativeReading> => {
  const entries = Object.entries(flat);
  const fields = entries.flatMap(([name, value]) =>
    name.startsWith(FIELD) ? [[name.slice(FIELD.length), value] as const] : [],
  );
  return {
    ...Object.fromEntries(entries.filter(([name]) => !name.startsWith(FIELD))),
    ...(fields.length === 0 ? {} : { fields: Object.fromEntries(fields) }),
  };
};

const laterOf = (one: string | null, other: string): string => (one === null || other > one ? other : one);

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
      return {
        ...state,
        media,
        media_times: withTimes(state.media_times, observed_at, Object.keys(withoutBlanks(media))),
        ad_ids: withAds(state.ad_ids, ad_ids, observed_at),
      };
    }
    case 'CreativeMeasured': {
      const { changes, confirmed, observed_at } = event.data;
      return {
        ...state,
        media: state.media && { ...state.media, ...changes },
        media_times: withTimes(state.media_times, observed_at, Object.keys(changes), confirmed),
      };
    }
    case 'CreativeCarried':
      return { ...state, ad_ids: withAds(state.ad_ids, event.data.ad_ids, event.data.observed_at) };
    case 'CreativeAnalysed': {
      const { changes, confirmed, observed_at } = event.data;
      const { depth: _depth, ...results } = changes;
      return {
        ...state,
        reading: withReading(state.reading, changes),
        reading_times: withTimes(
          state.reading_times,
          observed_at,
          Object.keys(readingFieldsOf(results)),
          confirmed,
        ),
        read_at: laterOf(state.read_at, observed_at),
      };
    }
  }
};

export const creative: Decider<CreativeState, CreativeEvent> = { initial, evolve };

const inEvents = (ids: readonly string[]): readonly (readonly string[])[] =>
  boundedGroups(ids, Number.POSITIVE_INFINITY, BULK_IDS_MAX);

/** Keys in the object store that end when the file is removed. */
const ENDED_KEYS = {
  object_key: null,
  thumb_object_key: null,
  poster_object_key: null,
} as const satisfies Partial<CreativeMedia>;

/** As stored first, without keys that ended before the observation. */
const firstMedia = (
  media: CreativeMedia,
  { media_times }: CreativeState,
  observedAt: string,
): CreativeMedia => {
  const values: Partial<CreativeMedia> = ENDED_KEYS;
  const { changes } = compareFields({ values, times: media_times }, withoutBlanks(media), observedAt);
  const ended = Object.entries(ENDED_KEYS).filter(
    ([key]) => media_times[key] !== undefined && !(key in changes),
  );
  return { ...media, ...Object.fromEntries(ended) };
};

const carriersOf = (state: CreativeState, adIds: readonly string[], observedAt: string): readonly string[] =>
  [...new Set(adIds)].filter(
    (id) => earlierOf(state.ad_ids.get(id) ?? null, observedAt) !== state.ad_ids.get(id),
  );

export const recordCreativeFile =
  (observation: CreativeFile) =>
  (state: CreativeState): CreativeEvent[] => {
    const { type: _type, creative_key, observed_at, ad_ids, removed, ...media } = observation;
    const carry = (ids: readonly string[]): CreativeEvent => ({
      type: 'CreativeCarried',
      data: { creative_key, observed_at, ad_ids: ids },
    });
    if (state.media === null) {
      if (removed) {
        const isKnown = (state.media_times['object_key'] ?? '') >= observed_at;
        const data = { creative_key, observed_at, changes: ENDED_KEYS };
        return [
          ...(isKnown ? [] : [{ type: 'CreativeMeasured', data } as const]),
          ...inEvents(carriersOf(state, ad_ids, observed_at)).map(carry),
        ];
      }
      const [first = [], ...further] = inEvents([...new Set(ad_ids)]);
      return [
        {
          type: 'CreativeStored',
          data: { creative_key, observed_at, media: firstMedia(media, state, observed_at), ad_ids: first },
        },
        ...further.map(carry),
      ];
    }
    const stated: Partial<CreativeMedia> = removed ? ENDED_KEYS : withoutBlanks(media);
    const compared = compareFields({ values: state.media, times: state.media_times }, stated, observed_at);
    return [
      ...(isNews(compared)
        ? [{ type: 'CreativeMeasured', data: { creative_key, observed_at, ...compared } } as const]
        : []),
      ...inEvents(carriersOf(state, ad_ids, observed_at)).map(carry),
    ];
  };

/** The depth never falls, because earlier results are kept. */
const isDeeper = (
  existing: CreativeReading['depth'] | undefined,
  stated: CreativeReading['depth'],
): boolean => existing === undefined || ANALYSIS_DEPTHS.indexOf(stated) > ANALYSIS_DEPTHS.indexOf(existing);

/** Each result is that of the newest analysis that has it. */
export const recordCreativeAnalysis =
  (observation: CreativeAnalysis) =>
  (state: CreativeState): CreativeEvent[] => {
    const { type: _type, creative_key, observed_at, depth, fields, ...stated } = observation;
    const { depth: existingDepth, ...existing } = state.reading;
    const compared = compareFields(
      { values: readingFieldsOf(existing), times: state.reading_times },
      readingFieldsOf({ ...stated, fields }),
      observed_at,
    );
    const deeper = isDeeper(existingDepth, depth) ? { depth } : {};
    const isNewest = laterOf(state.read_at, observed_at) !== state.read_at;
    if (!isNews(compared) && deeper.depth === undefined && !isNewest) return [];
    const changes = { ...readingOf(compared.changes), ...deeper };
    return [{ type: 'CreativeAnalysed', data: { creative_key, observed_at, ...compared, changes } }];
  };
