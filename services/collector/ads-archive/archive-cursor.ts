import { FIRST_PAGE_SIZE, type PageSize } from '#domain/collecting/page-size.ts';

/** Readings of the same pages: active ads, ads that became inactive, and pages whose empty answer is doubted. */
export type ArchivePass = 'active' | 'inactive' | 'doubted';

/** A page that the library refuses, with its message. */
export type RefusedPage = { readonly page_id: string; readonly message: string };

/** Position in the reading of a batch, from which it continues. It holds no token and no address of the platform. */
export type ArchiveCursor = {
  readonly pass: ArchivePass | 'done';
  /** Groups of pages that are still to be read in this pass. The first is being read. */
  readonly groups: readonly (readonly string[])[];
  /** Number of the list that is being read. It changes with the pass and the group. */
  readonly list: number;
  /** Cursor of the platform; `null` at the beginning of a list. */
  readonly after: string | null;
  readonly size: PageSize;
  /** Number of the next answer in the spool. */
  readonly page: number;
  readonly refusedPages: readonly RefusedPage[];
  /** A cursor of the platform came twice. */
  readonly looped: boolean;
  /** The token was refused while active ads were read. */
  readonly tokenLost: boolean;
  readonly refusedAds: number;
  /** Reason for the first refused ad. */
  readonly refusedReason: string | null;
  /** Texts that were cut, and entries of lists that were left out. */
  readonly cutTexts: number;
  readonly leftOut: number;
  /** Pages to be read again from `doubtedAtMs` on. */
  readonly doubted: readonly string[];
  readonly doubtedAtMs: number;
  /** Why ads that became inactive were not read to the end; `null` when they were, or were not asked for. */
  readonly stopsSkipped: string | null;
};

/** Social pages that the library takes in one call. */
export const PAGES_PER_CALL_MAX = 10;

/** Splits pages into groups of one call each. */
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

/** Returns the cursor at the beginning of another list. */
export const atList = (cursor: ArchiveCursor, changes: Partial<ArchiveCursor>): ArchiveCursor => ({
  ...cursor,
  list: cursor.list + 1,
  after: null,
  ...changes,
});
