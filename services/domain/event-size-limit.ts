import { cutText } from '#contracts/values/text.ts';

/** Maximum ids in one bulk event. */
export const BULK_IDS_MAX = 5_000;

/**
 * Splits items into groups, one group for each event. A group holds at most `itemsMax` items and `charactersMax`
 * characters of JSON; a single longer item gets its own group. The same items always fall into the same groups.
 */
export const boundedGroups = <Item>(
  items: readonly Item[],
  charactersMax: number,
  itemsMax: number = Number.POSITIVE_INFINITY,
): readonly (readonly Item[])[] => {
  const groups: Item[][] = [];
  let group: Item[] = [];
  let characters = 0;
  for (const item of items) {
    const length = JSON.stringify(item).length + 1;
    if (group.length > 0 && (characters + length > charactersMax || group.length >= itemsMax)) {
      groups.push(group);
      group = [];
      characters = 0;
    }
    group.push(item);
    characters += length;
  }
  if (group.length > 0) groups.push(group);
  return groups;
};

/** Maximum bytes of a scan's pages as JSON: with the rest of the event and its metadata they fit into one append of 1 MiB. */
const SCAN_PAGES_MAX_BYTES = 950_000;
/** First limit that is tried for the characters of page names: half of the longest name. */
const FIRST_NAME_MAX_CHARACTERS = 250;

/**
 * Returns the pages of a scan with their names cut, all to the same length, if they would not fit into one event. The
 * length is halved until they fit, which 10,000 pages do without names.
 */
export const withFittingNames = <Page extends { readonly page_name: string | null }>(
  pages: readonly Page[],
): readonly Page[] => {
  let fitting = pages;
  for (let max = FIRST_NAME_MAX_CHARACTERS; max > 0 && jsonBytes(fitting) > SCAN_PAGES_MAX_BYTES; max >>= 1) {
    fitting = pages.map((page) => ({ ...page, page_name: page.page_name && cutText(page.page_name, max) }));
  }
  return fitting;
};

const jsonBytes = (value: object): number => new TextEncoder().encode(JSON.stringify(value)).length;
