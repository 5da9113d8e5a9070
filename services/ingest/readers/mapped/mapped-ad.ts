import {
  adOf,
  cardOf,
  cardOfAd,
  codeOf,
  countriesOf,
  dateOf,
  flagOf,
  formatOf,
  languagesOf,
  platformsOf,
  textOf,
  textsOf,
} from '../fields/ad-fields.ts';
import { idsOf } from '../fields/ad-ids.ts';
import { dateInForm } from '../fields/date-form.ts';
import { versionsOf } from '../formats/ads-archive-ad.ts';
import type { Mapping } from '../formats/column-mapping.ts';
import type { JsonObject } from '#domain/shapes/json-object.ts';
import { type AdMedia, type AdRecord, RecordFault } from '../record.ts';
import { noiseFilter } from './page-noise.ts';

export type Variant = Mapping['variants'][number];
export type Pick = (candidates: readonly string[] | undefined, blank?: (text: string) => boolean) => unknown;
type PickText = (candidates: readonly string[] | undefined) => string | null;

const asText = (value: unknown, candidates: readonly string[]): string | null => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null) return textOf(value);
  throw new RecordFault(
    `${candidates.join(' or ')} is ${Array.isArray(value) ? 'a list' : 'an object'}, but a text is expected`,
    'name the path of a text in the mapping, such as texts[0] or body.text',
  );
};

export const mappedAd = (
  mapping: Mapping,
  variant: Variant,
  { line, raw, fields }: { readonly line: number; readonly raw: string; readonly fields: JsonObject },
  pick: Pick,
): AdRecord => {
  const { columns, constants, dates } = mapping;
  const notes: string[] = [];
  const text: PickText = (candidates) => asText(pick(candidates), candidates ?? []);
  const stoppedOn = dateOf('the stop date', text(columns.stopped_on), dates?.stopped_on);
  const activity = text(columns.is_active);
  const scannedAt = text(columns.scanned_at);
  const withoutNoise = noiseFilterOf(variant);
  const given = { ad: text(columns.ad_id), page: text(columns.page_id) ?? constants?.page_id };
  const { checked, ...ids } = idsOf(given, [fields], notes);
  const bodies = textsOf(text(columns.body));
  const titles = textsOf(text(columns.title));
  const descriptions = textsOf(text(columns.link_description));
  const ad = adOf({
    ...ids,
    page_name: text(columns.page_name) ?? textOf(constants?.page_name),
    is_active:
      activity === null && stoppedOn === null ? (constants?.is_active ?? null) : flagOf(activity, notes),
    started_on: dateOf('the start date', text(columns.started_on), dates?.started_on),
    stopped_on: stoppedOn,
    ...withoutNoise({
      body: bodies[0] ?? null,
      title: titles[0] ?? null,
      link_description: descriptions[0] ?? null,
      caption: text(columns.caption),
      cta_text: text(columns.cta_text),
    }),
    versions: versionsOf(bodies, titles, descriptions),
    cta_type: codeOf('cta_type', text(columns.cta_type), notes),
    link_url: text(columns.link_url),
    format: formatOf(text(columns.format), notes),
    platforms: platformsOf(pick(columns.platforms), notes),
    languages: languagesOf(pick(columns.languages)),
    media: mediaOf(mapping, text),
  });
  return {
    kind: 'ad',
    line,
    raw,
    ad,
    version: versionOf(mapping, withoutNoise, text) ?? { key: null, card: cardOfAd(ad) },
    hints: {
      brandDomain: text(columns.brand_domain),
      brandName: text(columns.brand_name),
      scannedAt:
        (scannedAt !== null && dates?.scanned_at && dateInForm(dates.scanned_at, scannedAt)) || scannedAt,
      countries: countriesOf(pick(columns.countries, (code) => code.trim() === '') ?? constants?.countries),
    },
    notes,
    checked,
  };
};

/** Compiled once per variant, because compiling takes longer than filtering a row. */
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
