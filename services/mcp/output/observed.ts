import { cleanText, cutText } from './result.ts';

export const OBSERVED_IN_LISTS_MAX = 300;
export const OBSERVED_IN_FETCH_MAX = 4_000;
const OBSERVED_TEXTS_MAX = 40;
const PLAIN_MAX_LENGTH = 300;

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Values that hold no text of an advertiser: uuids, dates, times and decimal numbers. */
const PLAIN_SHAPES: readonly RegExp[] = [
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/,
  /^-?\d{1,20}(\.\d{1,6})?$/,
];
const ONE_WORD = /^[\x21-\x7e]+$/;

/** Fields with ids, closed lists, codes and domains. All other text is observed. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set(
  (
    'id slug domain country countries top_country languages language currency status format type ' +
    'types kind kinds change basis bases correction role media_kind depth hook style presenter ' +
    'setting tone offer audio field content_type page_type freshness_tier cadence slo_status match ' +
    'state state_basis creative_key ad_id page_id item_type item_key subject_type subject_key ' +
    'created_by editors visibility workspace_id key_id plan scopes data_version category_slug trigger ' +
    'channel sends_on outcome failure week feedback sha256 resource price_move details product_id ' +
    'variant_id platforms library_url subject stream figure'
  ).split(' '),
);
/** Fields whose objects hold text of the service: its categories, its catalogue of tools, and what it proves. */
const OWN_OBJECTS: ReadonlySet<string> = new Set([
  'category',
  'mid_category',
  'parent',
  'sources',
  'statement',
  'digest',
  'tool',
  'tools',
]);

export type SeparateOptions = {
  readonly maxLength: number;
  readonly baseUrl: string;
  readonly isOwn?: boolean;
};

const isPlainText = (field: string, text: string, baseUrl: string): boolean =>
  PLAIN_SHAPES.some((shape) => shape.test(text)) ||
  (text.startsWith(`${baseUrl}/`) && ONE_WORD.test(text)) ||
  (PLAIN_FIELDS.has(field) && text.length <= PLAIN_MAX_LENGTH && ONE_WORD.test(text));

const isTexts = (value: Json): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');

const separateObject = (record: JsonObject, options: SeparateOptions): JsonObject => {
  const { maxLength, baseUrl, isOwn = false } = options;
  const plain: Record<string, Json> = {};
  const observed: Record<string, Json> = {};
  const cut: string[] = [];
  const observe = (field: string, text: string): string => {
    const { text: kept, isCut } = cutText(text, maxLength);
    if (isCut && !cut.includes(field)) cut.push(field);
    return kept;
  };
  for (const [field, value] of Object.entries(record)) {
    if (typeof value === 'string') {
      // A cut code or link would be wrong.
      if (isPlainText(field, value, baseUrl)) plain[field] = cleanText(value);
      else if (isOwn) plain[field] = observe(field, value);
      else observed[field] = observe(field, value);
    } else if (isTexts(value)) {
      if (isOwn || value.every((text) => isPlainText(field, text, baseUrl)))
        plain[field] = value.map(cleanText);
      else {
        if (value.length > OBSERVED_TEXTS_MAX) cut.push(field);
        observed[field] = value.slice(0, OBSERVED_TEXTS_MAX).map((text) => observe(field, text));
      }
    } else {
      plain[field] = separate(value, { maxLength, baseUrl, isOwn: OWN_OBJECTS.has(field) });
    }
  }
  if (Object.keys(observed).length > 0) plain['observed'] = observed;
  if (cut.length > 0) plain['observed_cut'] = cut;
  return plain;
};

/** Moves texts of advertisers and sites under `observed`. `observed_cut` names the fields that were cut. */
export const separate = (value: Json, options: SeparateOptions): Json => {
  if (typeof value === 'string') return { observed: { text: cutText(value, options.maxLength).text } };
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((one: Json) => separate(one, options));
  return separateObject(value as JsonObject, options);
};
