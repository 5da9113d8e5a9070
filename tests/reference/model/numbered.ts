type Named<T> = { readonly name: string; readonly item: T };

/** Items of one name are numbered, in an order that only their contents decide. */
export const numbered = <T>(found: readonly Named<T>[]): Record<string, T> => {
  const groups = Map.groupBy(found, ({ name }) => name);
  const entries = [...groups].flatMap(([name, group]) =>
    group
      .map(({ item }) => ({ item, text: JSON.stringify(item) }))
      .toSorted((a, b) => (a.text < b.text ? -1 : 1))
      .map(({ item }, index) => [index === 0 ? name : `${name} (${index + 1})`, item] as const),
  );
  return Object.fromEntries(entries);
};
