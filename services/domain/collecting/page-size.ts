/** Number of ads that one call requests. */
export const PAGE_SIZE_FIRST = 250;
export const PAGE_SIZE_MIN = 10;
export const PAGE_SIZE_MAX = 500;
/** Successful replies in a row after which the size doubles. */
const GOOD_BEFORE_DOUBLING = 10;

export type PageSize = { readonly limit: number; readonly good: number };

export const FIRST_PAGE_SIZE: PageSize = { limit: PAGE_SIZE_FIRST, good: 0 };

/** Doubles the size after enough successes. */
export const afterGoodPage = ({ limit, good }: PageSize): PageSize =>
  good + 1 < GOOD_BEFORE_DOUBLING
    ? { limit, good: good + 1 }
    : { limit: Math.min(limit * 2, PAGE_SIZE_MAX), good: 0 };

/** Halves the size after a too large reply; `null` at the minimum. */
export const halvedPage = ({ limit }: PageSize): PageSize | null =>
  limit <= PAGE_SIZE_MIN ? null : { limit: Math.max(Math.floor(limit / 2), PAGE_SIZE_MIN), good: 0 };
