import type { Json } from './observed.ts';

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
