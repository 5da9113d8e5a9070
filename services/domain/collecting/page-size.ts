/** Ads that a call asks for: at first, at least, and at most. */
export const PAGE_SIZE_FIRST = 250;
export const PAGE_SIZE_MIN = 10;
export const PAGE_SIZE_MAX = 500;
/** Good answers in a row after which the size is doubled. */
const GOOD_BEFORE_DOUBLING = 10;

/** Number of ads that the next call asks for, and the good answers in a row at that size. */
export type PageSize = { readonly limit: number; readonly good: number };

export const FIRST_PAGE_SIZE: PageSize = { limit: PAGE_SIZE_FIRST, good: 0 };

/** Returns the size after a good answer. */
export const afterGoodPage = ({ limit, good }: PageSize): PageSize =>
  good + 1 < GOOD_BEFORE_DOUBLING
    ? { limit, good: good + 1 }
    : { limit: Math.min(limit * 2, PAGE_SIZE_MAX), good: 0 };

/** Returns half the size, after the library asked for less data; `null` when it is the smallest already. */
export const halvedPage = ({ limit }: PageSize): PageSize | null =>
  limit <= PAGE_SIZE_MIN ? null : { limit: Math.max(Math.floor(limit / 2), PAGE_SIZE_MIN), good: 0 };
