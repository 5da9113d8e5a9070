import { ANALYSIS_DEPTHS } from '#contracts/values/creatives.ts';
import type { CreativeEvent, CreativeMedia, CreativeReading } from '#contracts/events/corpus/creative.ts';
import type { CreativeAnalysis, CreativeFile } from '#contracts/observations/creative.ts';
import { PersistentMap } from '../persistent-map.ts';

/** What is known of one file. An analysis may come before the file itself was measured. */
export type CreativeState = {
  readonly media: CreativeMedia | null;
  readonly measured_at: string | null;
  readonly ad_ids: PersistentMap<true>;
  readonly reading: Partial<CreativeReading>;
  readonly read_at: string | null;
};

const withAds = (ads: PersistentMap<true>, ids: readonly string[]): PersistentMap<true> =>
  ids.reduce((known, id) => known.with(id, true), ads);

const withReading = (
  known: Partial<CreativeReading>,
  changes: Partial<CreativeReading>,
): Partial<CreativeReading> => ({
  ...known,
  ...changes,
  ...(changes.fields ? { fields: { ...known.fields, ...changes.fields } } : {}),
});

const initial: CreativeState = {
  media: null,
  measured_at: null,
  ad_ids: PersistentMap.empty<true>(),
  reading: {},
  read_at: null,
};

export const creative = {
  initial,
  evolve: (state: CreativeState, event: CreativeEvent): CreativeState => {
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
  },
};

/** Fields that say something, and something else than what is known. */
const newIn = <Known extends object>(known: Known, said: object): Partial<Known> => {
  const before = known as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(said).filter(
      ([field, value]) => value !== null && JSON.stringify(before[field]) !== JSON.stringify(value),
    ),
  ) as Partial<Known>;
};

/**
 * The first observation stores the file. Later ones complete its media properties, unless they are older than what is
 * known, and add ads: that an ad carried the file is so whenever it was seen.
 */
export const recordCreativeFile =
  (observation: CreativeFile) =>
  (state: CreativeState): CreativeEvent[] => {
    const { type: _type, creative_key, observed_at, ad_ids, ...media } = observation;
    if (state.media === null) {
      return [
        { type: 'CreativeStored', data: { creative_key, observed_at, media, ad_ids: [...new Set(ad_ids)] } },
      ];
    }
    const isOlder = state.measured_at !== null && observed_at < state.measured_at;
    const changes = isOlder ? {} : newIn(state.media, media);
    const carriers = [...new Set(ad_ids)].filter((id) => !state.ad_ids.get(id));
    return [
      ...(Object.keys(changes).length === 0
        ? []
        : [{ type: 'CreativeMeasured', data: { creative_key, observed_at, changes } } as const]),
      ...(carriers.length === 0
        ? []
        : [{ type: 'CreativeCarried', data: { creative_key, observed_at, ad_ids: carriers } } as const]),
    ];
  };

/** How deep a file was looked at never falls: what was read stays read. */
const deeper = (known: CreativeReading['depth'] | undefined, said: CreativeReading['depth']): boolean =>
  known === undefined || ANALYSIS_DEPTHS.indexOf(said) > ANALYSIS_DEPTHS.indexOf(known);

/** An analysis older than the last one changes nothing. */
export const recordCreativeAnalysis =
  (observation: CreativeAnalysis) =>
  (state: CreativeState): CreativeEvent[] => {
    const { type: _type, creative_key, observed_at, depth, fields, ...said } = observation;
    if (state.read_at !== null && observed_at < state.read_at) return [];
    const known = state.reading;
    const newFields = newIn(known.fields ?? {}, fields ?? {});
    const changes: Partial<CreativeReading> = {
      ...newIn(known, said),
      ...(deeper(known.depth, depth) ? { depth } : {}),
      ...(Object.keys(newFields).length === 0 ? {} : { fields: newFields }),
    };
    if (Object.keys(changes).length === 0) return [];
    return [{ type: 'CreativeAnalysed', data: { creative_key, observed_at, changes } }];
  };
