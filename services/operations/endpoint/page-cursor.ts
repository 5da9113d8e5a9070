import type { Caller } from '#application/access/key-lease-cache.ts';
import type { Cursors } from '../dependencies/cursors.ts';
import type { Endpoint } from './define-endpoint.ts';
import type { Reply } from './reply.ts';
import type { ValidInput } from './validate-input.ts';

export type PageStart = {
  readonly filters: string;
  /** `null` for the first page. */
  readonly after: readonly (string | number)[] | null;
};

const NOT_PAGED: PageStart = { filters: '', after: null };

/** Throws `Refusal` for an altered cursor, or one of another endpoint, workspace or filter. Only `limit` may change. */
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

/** `null` when the reply is the last page or not paged. */
export const signNextCursor = (filters: string, reply: Reply, cursors: Cursors): string | null =>
  reply.next ? cursors.sign(filters, reply.next) : null;
