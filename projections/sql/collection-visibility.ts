/** True if the member with id `$n` may see the row `alias` of `collections.collection`. */
export const seenBy = (alias: string, n: number): string =>
  `(${alias}.audience is null or $${n} = any(${alias}.audience))`;
