import { randomUUID } from 'node:crypto';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { OperationDependencies } from './dependencies/dependencies.ts';
import {
  requireScope,
  requireWorkspace,
  openPageCursor,
  signNextCursor,
  validateEndpointInput,
} from './endpoint/check-request.ts';
import type { Endpoint } from './endpoint/define-endpoint.ts';
import type { Reply } from './endpoint/reply.ts';
import { runEndpointHandler } from './endpoint/run-handler.ts';

export type InvokeInput = {
  /** Includes the workspace id as `ws` where the path has one. */
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

export type InvokeOptions = {
  /** Stored with events, for tracing. Default: a new id. */
  readonly requestId?: string;
  /** Event ids follow from it, so a retry must pass the first attempt's id. Default: a new id. */
  readonly commandId?: string;
  /** True when an earlier attempt with this `commandId` may have appended its events. */
  readonly mayRepeat?: boolean;
};

/** `cursor` is signed; `null` on the last page and without pages. */
export type InvokedReply = Reply & { readonly cursor: string | null };

/**
 * Runs the checks of the API's pipeline without HTTP; throws `Refusal`. Rate limits, idempotency keys and
 * `min-position` belong to the transport.
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
