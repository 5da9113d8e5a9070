import { adRecord, cardOfAd, countriesOf, dateOf, textOf } from '../fields/ad-fields.ts';
import { dateInForm } from '../fields/date-form.ts';
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
  const text: PickText = (candidates) => asText(pick(candidates), candidates ?? []);
  const stop = { name: 'the stop date', forms: dates?.stopped_on };
  const stoppedOn = text(columns.stopped_on);
  const isStopped = dateOf(stop.name, stoppedOn, stop.forms) !== null;
  const scannedAt = text(columns.scanned_at);
  const given = {
    ad_id: text(columns.ad_id),
    page_id: text(columns.page_id) ?? constants?.page_id,
    page_name: text(columns.page_name) ?? constants?.page_name,
    is_active: text(columns.is_active) ?? (isStopped ? null : constants?.is_active),
    started_on: text(columns.started_on),
    stopped_on: stoppedOn,
    body: text(columns.body),
    title: text(columns.title),
    link_description: text(columns.link_description),
    caption: text(columns.caption),
    cta_type: text(columns.cta_type),
    cta_text: text(columns.cta_text),
    link_url: text(columns.link_url),
    format: text(columns.format),
    platforms: pick(columns.platforms),
    languages: pick(columns.languages),
    media: mediaOf(mapping, text),
  };
  const hints = {
    brandDomain: text(columns.brand_domain),
    brandName: text(columns.brand_name),
    scannedAt:
      (scannedAt !== null && dates?.scanned_at && dateInForm(dates.scanned_at, scannedAt)) || scannedAt,
    countries: countriesOf(pick(columns.countries, (code) => code.trim() === '') ?? constants?.countries),
  };
  const start = { name: 'the start date', forms: dates?.started_on };
  const withoutNoise = noiseFilter(variant);
  const record = adRecord({ line, raw }, given, [fields], hints, { start, stop });
  const ad = { ...record.ad, ...withoutNoise(record.ad) };
  const version = versionOf(mapping, withoutNoise, text) ?? { key: null, card: cardOfAd(ad) };
  return { ...record, ad, version };
};

const versionOf = (
  { version }: Mapping,
  withoutNoise: ReturnType<typeof noiseFilter>,
  text: PickText,
): AdRecord['version'] | null => {
  const key = text(version?.key);
  if (version === undefined || key === null) return null;
  const { body, title, link_description, cta_text } = withoutNoise({
    body: text(version.body),
    title: text(version.title),
    link_description: text(version.link_description),
    caption: null,
    cta_text: text(version.cta_text),
  });
  return { key, card: { body, title, link_description, cta_text, link_url: text(version.link_url) } };
};

const mediaOf = (mapping: Mapping, text: PickText): AdMedia[] => {
  const { image_url, video_url, poster_url } = mapping.columns;
  const [image, video, poster] = [text(image_url), text(video_url), text(poster_url)];
  if (video !== null) return [{ kind: 'video', url: video, poster_url: poster }];
  const still = image ?? poster;
  return still === null ? [] : [{ kind: 'image', url: still, poster_url: null }];
};
