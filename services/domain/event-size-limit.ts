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
