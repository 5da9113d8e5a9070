/** Whether the member with id `$n` sees the collection that a row `alias` of `collections.collection` stands for. */
export const seenBy = (alias: string, n: number): string =>
  `(${alias}.audience is null or $${n} = any(${alias}.audience))`;
