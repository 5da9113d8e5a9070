import type { Caller } from '#application/access/key-lease-cache.ts';
import type { Cursors } from '../dependencies/cursors.ts';
import type { Endpoint } from './define-endpoint.ts';
import type { Reply } from './reply.ts';
import type { ValidInput } from './validate-input.ts';

/** Start of a page: the filters that its cursors are signed for, and the sort key after which it begins. */
export type PageStart = {
  readonly filters: string;
  /** `null` for the first page. */
  readonly after: readonly (string | number)[] | null;
};

const NOT_PAGED: PageStart = { filters: '', after: null };

/**
 * Opens the cursor of a request to a paged endpoint. Throws `Refusal` when the cursor was altered, or was
 * issued for another endpoint, workspace or filter. Only `limit` may change between two pages.
 */
export const openPageCursor = (
  endpoint: Endpoint,
  caller: Caller,
  { params, query }: ValidInput,
  cursors: Cursors,
): PageStart => {
  if (endpoint.reply.shape !== 'paged') return NOT_PAGED;
  const { cursor, limit: _, ...others } = query;
  const filters = JSON.stringify([endpoint.operationId, caller.workspaceId, params, others]);
  return { filters, after: typeof cursor === 'string' ? cursors.open(cursor, filters) : null };
};

/** Returns the signed cursor of the next page. `null` when the reply is the last page or not paged. */
export const signNextCursor = (filters: string, reply: Reply, cursors: Cursors): string | null =>
  reply.next ? cursors.sign(filters, reply.next) : null;
