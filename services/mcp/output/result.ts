import type { CallToolResult, ImageContent } from '@modelcontextprotocol/server';
import { lagHours, oldestOf } from '#operations/endpoint/reply.ts';
import type { Json, JsonObject } from './observed.ts';

export const CARD_FIELDS_MAX = 12;

/** Fields that a large card loses first, in this order; `fetch` returns them. */
const LOST_FIRST: readonly string[] = (
  'logo_url indexable record_url content_type bytes sha256 size_bytes platforms stored_at width ' +
  'height poster_url first_seen_at download_expires_at started_at updated_at created_by editors ' +
  'brand_ids observed_cut page_type_confidence days_active'
).split(' ');

export const toCard = (item: Json): Json => {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return item;
  const record = item as JsonObject;
  const excess = Object.keys(record).length - CARD_FIELDS_MAX;
  if (excess <= 0) return item;
  const lost = new Set(LOST_FIRST.filter((field) => field in record).slice(0, excess));
  const kept = Object.entries(record).filter(([field]) => !lost.has(field));
  if (kept.length <= CARD_FIELDS_MAX) return Object.fromEntries(kept);
  // New fields of the contract must not enlarge cards: the last ones are dropped, but not `observed`.
  const [observed, others] = [
    kept.filter(([name]) => name === 'observed'),
    kept.filter(([name]) => name !== 'observed'),
  ];
  return Object.fromEntries([...others.slice(0, CARD_FIELDS_MAX - observed.length), ...observed]);
};

/** Control characters except tab and line feed, and invisible ones that can hide or reorder words. */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0E\uFEFF\uFFA0\uFFF0-\uFFFB\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]/gu;

/** Also removes halves of surrogate pairs. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll(INVISIBLE, '');

export type CutText = { readonly text: string; readonly isCut: boolean };

export const cutText = (text: string, maxLength: number): CutText => {
  const cleaned = cleanText(text);
  if (cleaned.length <= maxLength) return { text: cleaned, isCut: false };
  const points = Array.from(cleaned);
  if (points.length <= maxLength) return { text: cleaned, isCut: false };
  return { text: `${points.slice(0, maxLength).join('')}…`, isCut: true };
};

export const NOT_SEEN =
  'Not seen is not stopped: an ad absent from a scan may still run, and a brand absent here may still advertise.';
export const NO_MONEY = 'No figure is spend, revenue or performance; counts are ads observed.';
export const TRAFFIC_ESTIMATED = 'Visits, rankings and demographics are estimates of a traffic provider.';
export const SHARED_PAGES = 'A shared page is an observed association; ownership is not known.';
export type PastInput = Readonly<Partial<Record<'as_of' | 'observed_as_of', string | undefined>>>;
/** `late`: events about what was observed by the moment, recorded only afterwards. */
export const asKnownAt = (
  { as_of: known, observed_as_of: observed }: PastInput,
  { late }: { readonly late: number },
): string => {
  const moments = [
    ...(known === undefined ? [] : [`as known at ${known}`]),
    ...(observed === undefined ? [] : [`as observed by ${observed}`]),
  ];
  const verb = observed === undefined ? 'do not count' : 'count';
  return `This is the answer ${moments.join(' and ')}. Late events, which were observed by then but recorded afterwards, ${verb}: ${late}.`;
};
export const itemsInAll = (total: number): string => `The list has ${total} items in all.`;
export const IMAGES_NOT_STORED =
  'No image is attached: no thumbnail of these creatives is stored. `media_url` links to the stored file, if there is one.';
export const someImages = (count: number): string =>
  `${count} of the images asked for ${count === 1 ? 'is' : 'are'} attached: no thumbnail of the other creatives is stored.`;
export const IMAGES_LATE =
  'Images are missing: their thumbnails could not be made in time. Ask again for this object to get them.';

export type Times = { readonly as_of: string; readonly lag_hours: number };

/** Several parts are as old as the oldest. `now`: milliseconds since 1970. */
export const timesOf = (asOfs: readonly (string | null)[], now: number): Times => {
  const oldest = oldestOf(asOfs);
  return { as_of: oldest ?? new Date(now).toISOString(), lag_hours: lagHours(oldest, now) };
};

/** Sends the JSON as structured content and as text, because some clients read only one. */
export const structuredResult = (
  content: JsonObject,
  images: readonly ImageContent[] = [],
): CallToolResult => ({ structuredContent: content, ...textResult(content, images) });

export const textResult = (content: JsonObject, images: readonly ImageContent[] = []): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(content) }, ...images],
});

export const errorResult = (sentence: string): CallToolResult => ({
  content: [{ type: 'text', text: sentence }],
  isError: true,
});

export const RESULT_MAX_BYTES = 32 * 1024;
export const ENVELOPE_BYTES = 3 * 1024;

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '', 'utf8');

export const countThatFits = (items: readonly Json[], maxBytes: number): number => {
  let bytes = 2;
  for (const [index, item] of items.entries()) {
    bytes += bytesOf(item) + 1;
    if (bytes > maxBytes) return index;
  }
  return items.length;
};

type List = { readonly path: string; readonly items: Json[]; readonly total: number };

const copyWithLists = (value: Json, path: string, lists: List[]): Json => {
  if (Array.isArray(value)) {
    const items = value.map((item: Json) => copyWithLists(item, path, lists));
    lists.push({ path, items, total: items.length });
    return items;
  }
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, one]): [string, Json] => [
    key,
    copyWithLists(one, path === '' ? key : `${path}.${key}`, lists),
  ]);
  return Object.fromEntries(entries);
};

export type Fitted = { readonly value: Json; readonly notes: readonly string[] };

/** Cuts lists from their ends, the largest first, until the JSON fits. Returns `null` when even that is too large. */
export const fitLists = (value: Json, maxBytes: number): Fitted => {
  if (bytesOf(value) <= maxBytes) return { value, notes: [] };
  const lists: List[] = [];
  const copy = copyWithLists(value, '', lists);
  for (let excess = bytesOf(copy) - maxBytes; excess > 0; excess = bytesOf(copy) - maxBytes) {
    const largest = lists
      .filter(({ items }) => items.length > 0)
      .map((list) => ({ list, bytes: bytesOf(list.items) }))
      .toSorted((one, other) => other.bytes - one.bytes)[0];
    if (!largest) return { value: null, notes: ['The answer is too large; ask for fewer parts.'] };
    let freed = 0;
    while (freed < excess && freed * 2 <= largest.bytes && largest.list.items.length > 0) {
      freed += bytesOf(largest.list.items.pop()) + 1;
    }
  }
  const cut = new Map<string, { kept: number; total: number }>();
  for (const { path, items, total } of lists) {
    if (items.length === total) continue;
    const sum = cut.get(path) ?? { kept: 0, total: 0 };
    cut.set(path, { kept: sum.kept + items.length, total: sum.total + total });
  }
  return {
    value: copy,
    notes: [...cut].map(
      ([path, { kept, total }]) => `${path}: ${kept} of ${total} items, to keep the answer short.`,
    ),
  };
};
