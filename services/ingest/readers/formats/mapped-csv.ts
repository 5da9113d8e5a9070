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
import { anotherHeader, brokenRow } from '../parsing/csv-faults.ts';
import { type CsvRow, csvRows } from '../parsing/csv-rows.ts';
import type { Mapping } from './column-mapping.ts';
import { noiseFilter } from '../mapped/page-noise.ts';
import { type AdMedia, type AdRecord, type Reader, RecordFault, recordOrRefusal } from '../record.ts';

type Variant = Mapping['variants'][number];
type Pick = (candidates: readonly string[] | undefined) => string | null;

/** Returns the mapping's variant for a header. `null` when no variant matches. */
export const variantOf = (mapping: Mapping, columns: readonly string[]): Variant | null =>
  mapping.variants.find(({ has_columns }) => has_columns.every((name) => columns.includes(name))) ?? null;

/** Creates a reader for CSV files of a mapping. */
export const readMappedCsv = (mapping: Mapping): Reader =>
  async function* (source) {
    let variant: Variant | null = null;
    for await (const item of csvRows(source)) {
      if (item.kind === 'broken') {
        yield brokenRow(item);
        continue;
      }
      if (item.kind === 'header') {
        variant = variantOf(mapping, item.columns);
        const missing = missingColumns(mapping, item.columns, variant);
        if (missing.length > 0 || variant === null) {
          yield anotherHeader(
            item.columns,
            missing,
            `use a mapping for this header instead of ${mapping.name}`,
          );
          return;
        }
        continue;
      }
      if (variant === null) return;
      const { line, raw, row } = item;
      const rowVariant = variant;
      const adId = pickFrom(row)(mapping.columns.ad_id);
      yield recordOrRefusal({ line, raw, adId }, () => readRow(mapping, rowVariant, item));
    }
  };

/** Filters by variant, because compiling the patterns takes longer than filtering a row. */
const filters = new WeakMap<Variant, ReturnType<typeof noiseFilter>>();
const noiseFilterOf = (variant: Variant): ReturnType<typeof noiseFilter> => {
  const filter = filters.get(variant) ?? noiseFilter(variant);
  filters.set(variant, filter);
  return filter;
};

const missingColumns = (mapping: Mapping, columns: readonly string[], variant: Variant | null): string[] => {
  const missing = mapping.columns.ad_id.some((name) => columns.includes(name))
    ? []
    : [mapping.columns.ad_id.join(' or ')];
  if (variant !== null) return missing;
  const last = mapping.variants.at(-1)?.has_columns ?? [];
  return [...new Set([...missing, ...last.filter((name) => !columns.includes(name))])];
};

const pickFrom =
  (row: CsvRow): Pick =>
  (candidates) => {
    for (const name of candidates ?? []) {
      const text = textOf(row[name]);
      if (text !== null) return text;
    }
    return null;
  };

const readRow = (
  mapping: Mapping,
  variant: Variant,
  item: { readonly line: number; readonly raw: string; readonly row: CsvRow },
): AdRecord => {
  const { columns, constants } = mapping;
  const pick = pickFrom(item.row);
  const stoppedOn = dateOf('the stop date', pick(columns.stopped_on));
  const withoutNoise = noiseFilterOf(variant);
  const ad = adOf({
    ad_id: requiredIdOf('the ad id', pick(columns.ad_id)),
    page_id: idOf('the page id', pick(columns.page_id) ?? constants?.page_id),
    page_name: pick(columns.page_name) ?? textOf(constants?.page_name),
    is_active:
      flagOf(pick(columns.is_active)) ?? (stoppedOn === null ? (constants?.is_active ?? null) : null),
    started_on: dateOf('the start date', pick(columns.started_on)),
    stopped_on: stoppedOn,
    ...withoutNoise({
      body: pick(columns.body),
      title: pick(columns.title),
      link_description: pick(columns.link_description),
      caption: pick(columns.caption),
      cta_text: pick(columns.cta_text),
    }),
    cta_type: pick(columns.cta_type),
    link_url: pick(columns.link_url),
    format: formatOf(pick(columns.format)),
    platforms: platformsOf(pick(columns.platforms)),
    languages: listOf(pick(columns.languages))?.map((language) => language.toLowerCase()) ?? null,
    media: mediaOf(mapping, pick),
  });
  return {
    kind: 'ad',
    line: item.line,
    raw: item.raw,
    ad,
    version: versionOf(mapping, withoutNoise, pick) ?? { key: null, card: cardOfAd(ad) },
    hints: {
      brandDomain: pick(columns.brand_domain),
      brandName: pick(columns.brand_name),
      scannedAt: pick(columns.scanned_at),
      countries: countriesOf(pick(columns.countries) ?? constants?.countries),
    },
  };
};

const versionOf = (
  mapping: Mapping,
  withoutNoise: ReturnType<typeof noiseFilter>,
  pick: Pick,
): AdRecord['version'] | null => {
  const { version } = mapping;
  const key = pick(version?.key);
  if (version === undefined || key === null) return null;
  const { body, title, link_description, cta_text } = withoutNoise({
    body: pick(version.body),
    title: pick(version.title),
    link_description: pick(version.link_description),
    caption: null,
    cta_text: pick(version.cta_text),
  });
  return { key, card: cardOf({ body, title, link_description, cta_text, link_url: pick(version.link_url) }) };
};

const mediaOf = (mapping: Mapping, pick: Pick): AdMedia[] => {
  const { image_url, video_url, poster_url } = mapping.columns;
  const [image, video, poster] = [pick(image_url), pick(video_url), pick(poster_url)];
  if (video !== null) return [{ kind: 'video', url: video, poster_url: poster }];
  const still = image ?? poster;
  return still === null ? [] : [{ kind: 'image', url: still, poster_url: null }];
};

const countriesOf = (value: string | readonly string[] | null | undefined): readonly string[] | null => {
  const codes = listOf(value)?.map((code) => code.toUpperCase()) ?? null;
  const invalid = codes?.find((code) => !/^([A-Z]{2}|ALL)$/.test(code));
  if (invalid !== undefined)
    throw new RecordFault(
      `the country ${JSON.stringify(invalid)} is not a two-letter code`,
      'write codes such as IN or US, or ALL',
    );
  return codes;
};
