import { FIRST_PAGE_SIZE, type PageSize } from '#domain/collecting/page-size.ts';

/** `doubted`: a second read of pages with an empty reply. */
export type ArchivePass = 'active' | 'inactive' | 'doubted';

export type RefusedPage = { readonly page_id: string; readonly message: string };

/** Holds neither tokens nor URLs of the platform. */
export type ArchiveCursor = {
  readonly pass: ArchivePass | 'done';
  /** Groups left in this pass; the first is being read. */
  readonly groups: readonly (readonly string[])[];
  /** Number of the list in progress; it changes with the pass and the group. */
  readonly list: number;
  readonly after: string | null;
  readonly size: PageSize;
  readonly page: number;
  readonly refusedPages: readonly RefusedPage[];
  /** The platform returned a cursor twice. */
  readonly looped: boolean;
  /** The token was rejected while active ads were read. */
  readonly tokenLost: boolean;
  readonly refusedAds: number;
  readonly refusedReason: string | null;
  readonly cutTexts: number;
  readonly leftOut: number;
  readonly doubted: readonly string[];
  readonly doubtedAtMs: number;
  /** Why reading of ended ads stopped early; `null` when it did not, or was not requested. */
  readonly stopsSkipped: string | null;
};

export const PAGES_PER_CALL_MAX = 10;

export const groupsOf = (pageIds: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(pageIds.length / PAGES_PER_CALL_MAX) }, (_, index) =>
    pageIds.slice(index * PAGES_PER_CALL_MAX, (index + 1) * PAGES_PER_CALL_MAX),
  );

export const firstCursor = (pageIds: readonly string[]): ArchiveCursor => ({
  pass: 'active',
  groups: groupsOf(pageIds),
  list: 0,
  after: null,
  size: FIRST_PAGE_SIZE,
  page: 0,
  refusedPages: [],
  looped: false,
  tokenLost: false,
  refusedAds: 0,
  refusedReason: null,
  cutTexts: 0,
  leftOut: 0,
  doubted: [],
  doubtedAtMs: 0,
  stopsSkipped: null,
});

export const atList = (cursor: ArchiveCursor, changes: Partial<ArchiveCursor>): ArchiveCursor => ({
  ...cursor,
  list: cursor.list + 1,
  after: null,
  ...changes,
});
