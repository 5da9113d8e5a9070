import {
  adOf,
  cardOf,
  cardOfAd,
  dateOf,
  flagOf,
  formatOf,
  idOf,
  listOf,
  platformsOf,
  requiredIdOf,
  textOf,
} from '../ad-fields.ts';
import type { Mapping } from '../formats/column-mapping.ts';
import { type AdMedia, type AdRecord, RecordFault } from '../record.ts';
import { noiseFilter } from './page-noise.ts';

export type Variant = Mapping['variants'][number];
/** Returns the first value of a record, at the given columns or paths, that is not blank. `null` when there is none. */
export type Pick = (candidates: readonly string[] | undefined) => unknown;
type PickText = (candidates: readonly string[] | undefined) => string | null;

/** Returns a value as text. Throws `RecordFault` for a list or an object. */
const asText = (value: unknown, candidates: readonly string[]): string | null => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null) return textOf(value);
  throw new RecordFault(
    `${candidates.join(' or ')} is ${Array.isArray(value) ? 'a list' : 'an object'}, but a text is expected`,
    'name the path of a text in the mapping, such as texts[0] or body.text',
  );
};

/** Reads an ad of a record that a mapping describes. Throws `RecordFault` when a field is invalid. */
export const mappedAd = (
  mapping: Mapping,
  variant: Variant,
  record: { readonly line: number; readonly raw: string },
  pick: Pick,
): AdRecord => {
  const { columns, constants } = mapping;
  const text: PickText = (candidates) => asText(pick(candidates), candidates ?? []);
  const stoppedOn = dateOf('the stop date', text(columns.stopped_on));
  const withoutNoise = noiseFilterOf(variant);
  const ad = adOf({
    ad_id: requiredIdOf('the ad id', text(columns.ad_id)),
    page_id: idOf('the page id', text(columns.page_id) ?? constants?.page_id),
    page_name: text(columns.page_name) ?? textOf(constants?.page_name),
    is_active:
      flagOf(text(columns.is_active)) ?? (stoppedOn === null ? (constants?.is_active ?? null) : null),
    started_on: dateOf('the start date', text(columns.started_on)),
    stopped_on: stoppedOn,
    ...withoutNoise({
      body: text(columns.body),
      title: text(columns.title),
      link_description: text(columns.link_description),
      caption: text(columns.caption),
      cta_text: text(columns.cta_text),
    }),
    cta_type: text(columns.cta_type),
    link_url: text(columns.link_url),
    format: formatOf(text(columns.format)),
    platforms: platformsOf(pick(columns.platforms)),
    languages: listOf(pick(columns.languages))?.map((language) => language.toLowerCase()) ?? null,
    media: mediaOf(mapping, text),
  });
  return {
    kind: 'ad',
    line: record.line,
    raw: record.raw,
    ad,
    version: versionOf(mapping, withoutNoise, text) ?? { key: null, card: cardOfAd(ad) },
    hints: {
      brandDomain: text(columns.brand_domain),
      brandName: text(columns.brand_name),
      scannedAt: text(columns.scanned_at),
      countries: countriesOf(pick(columns.countries) ?? constants?.countries),
    },
  };
};

/** Filters by variant, because compiling the patterns takes longer than filtering a row. */
const filters = new WeakMap<Variant, ReturnType<typeof noiseFilter>>();
const noiseFilterOf = (variant: Variant): ReturnType<typeof noiseFilter> => {
  const filter = filters.get(variant) ?? noiseFilter(variant);
  filters.set(variant, filter);
  return filter;
};

const versionOf = (
  mapping: Mapping,
  withoutNoise: ReturnType<typeof noiseFilter>,
  text: PickText,
): AdRecord['version'] | null => {
  const { version } = mapping;
  const key = text(version?.key);
  if (version === undefined || key === null) return null;
  const { body, title, link_description, cta_text } = withoutNoise({
    body: text(version.body),
    title: text(version.title),
    link_description: text(version.link_description),
    caption: null,
    cta_text: text(version.cta_text),
  });
  return { key, card: cardOf({ body, title, link_description, cta_text, link_url: text(version.link_url) }) };
};

const mediaOf = (mapping: Mapping, text: PickText): AdMedia[] => {
  const { image_url, video_url, poster_url } = mapping.columns;
  const [image, video, poster] = [text(image_url), text(video_url), text(poster_url)];
  if (video !== null) return [{ kind: 'video', url: video, poster_url: poster }];
  const still = image ?? poster;
  return still === null ? [] : [{ kind: 'image', url: still, poster_url: null }];
};

const countriesOf = (value: unknown): readonly string[] | null => {
  const codes = listOf(value)?.map((code) => code.toUpperCase()) ?? null;
  const invalid = codes?.find((code) => !/^([A-Z]{2}|ALL)$/.test(code));
  if (invalid !== undefined)
    throw new RecordFault(
      `the country ${JSON.stringify(invalid)} is not a two-letter code`,
      'write codes such as IN or US, or ALL',
    );
  return codes;
};
