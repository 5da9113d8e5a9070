import { randomUUID } from 'node:crypto';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { OperationDependencies } from './dependencies/dependencies.ts';
import { requireScope, requireWorkspace } from './endpoint/authorize.ts';
import type { Endpoint } from './endpoint/define-endpoint.ts';
import { openPageCursor, signNextCursor } from './endpoint/page-cursor.ts';
import type { Reply } from './endpoint/reply.ts';
import { runEndpointHandler } from './endpoint/run-handler.ts';
import { validateEndpointInput } from './endpoint/validate-input.ts';

/** Input of an endpoint. Values may have the types of the contract or be text as in a URL. */
export type InvokeInput = {
  /** Path parameters, with the workspace id as `ws` where the path has one. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

export type InvokeOptions = {
  /** Stored with the events of a write, for tracing. A new id when absent. */
  readonly requestId?: string;
  /** Event ids are derived from it. A retry must pass the id of the first attempt. A new id when absent. */
  readonly commandId?: string;
  /** True when an earlier attempt with the same `commandId` may already have appended its events. */
  readonly mayRepeat?: boolean;
};

/** A reply, and the signed cursor of the next page. `cursor` is `null` on the last page and without pages. */
export type InvokedReply = Reply & { readonly cursor: string | null };

/**
 * Calls an endpoint without HTTP, with the same checks in the same order as the request pipeline of the API.
 * Throws `Refusal` when a check fails. Rate limits, idempotency keys and `min-position` belong to the
 * transport.
 */
export const invoke = async (
  endpoint: Endpoint,
  { params = {}, query, body }: InvokeInput,
  caller: Caller,
  dependencies: OperationDependencies,
  { requestId = randomUUID(), commandId = randomUUID(), mayRepeat = false }: InvokeOptions = {},
): Promise<InvokedReply> => {
  requireWorkspace(params['ws'], caller);
  requireScope(endpoint, caller);
  const input = validateEndpointInput(endpoint, { params, query, body: { value: body } });
  const { filters, after } = openPageCursor(endpoint, caller, input, dependencies.cursors);
  const limit = typeof input.query['limit'] === 'number' ? input.query['limit'] : 0;
  const readKey = `${endpoint.operationId} ${JSON.stringify([input.params, input.query])}`;
  const reply = await runEndpointHandler(
    endpoint,
    caller,
    readKey,
    () => ({ ...input, caller, requestId, commandId, mayRepeat, page: { limit, after } }),
    dependencies,
  );
  return { ...reply, cursor: signNextCursor(filters, reply, dependencies.cursors) };
};
