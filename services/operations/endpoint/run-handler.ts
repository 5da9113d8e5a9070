import { Refusal } from '#contracts/errors.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { withObservedLinks } from '#contracts/values/links/observed-link.ts';
import { replaceStoredMedia } from '#contracts/values/media/stored-media.ts';
import { requireTime, TimeUsedUp, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { ReadRoute } from '#application/reads/read-routes.ts';
import type { HandledRead, OperationDependencies } from '../dependencies/dependencies.ts';
import type { Call, Endpoint } from './define-endpoint.ts';
import { createExecute } from './execute-command.ts';
import { toOverload } from './overload.ts';
import type { Reply } from './reply.ts';

/** Input of a handler, without `execute`. The contract checks the types of its parameters, not the compiler. */
export type HandlerCall = Omit<Call<Record<string, unknown>, Record<string, unknown>, unknown>, 'execute'>;

/**
 * Returns the callers that may share one read: all callers for the corpus (`''`), one member for a workspace.
 * `null` when a read must not be shared, because the reply depends on the API key.
 */
const sharingScope = (endpoint: Endpoint, caller: Caller): string | null => {
  if (endpoint.method !== 'GET') return null;
  if (endpoint.corpus) return '';
  return endpoint.path.includes('{ws}') ? caller.memberId : null;
};

/**
 * Returns when the figures of a reply hold. A read without an observation holds now, unless its read models lack events:
 * then it holds as of the last time at which they lacked none.
 */
const asOfReply = async (
  endpoint: Endpoint,
  { asOf }: Reply,
  route: ReadRoute,
  { lightReads, readModelLag }: OperationDependencies,
): Promise<string | null> =>
  asOf !== null || endpoint.method !== 'GET'
    ? asOf
    : lightReads.within(() => readModelLag.completeAt(route, endpoint.reads));

/** Returns the position of a write, or the one up to which a read may show the log. `null` when there is nothing to wait for. */
const positionOf = async (
  endpoint: Endpoint,
  { position = null }: Reply,
  route: ReadRoute,
  { lightReads, readRoutes }: OperationDependencies,
): Promise<bigint | null> =>
  endpoint.method === 'GET' ? lightReads.within(() => readRoutes.shownUpTo(route, endpoint.reads)) : position;

const callHandler = async (
  endpoint: Endpoint,
  call: HandlerCall,
  route: ReadRoute,
  dependencies: OperationDependencies,
): Promise<Reply> => {
  const execute = createExecute(dependencies.workspaceCommands, call);
  const { heavyReads, lightReads } = dependencies;
  const routed = heavyReads.of(route.db, call.caller.workspaceId);
  // A write may take longer: it waits for the event store and for projections before it reads.
  const db = endpoint.method === 'GET' ? lightReads.of(routed) : routed;
  const reply = await endpoint.handler({ ...call, execute } as Call<never, never, never>, {
    ...dependencies,
    db,
  });
  const asOf = await asOfReply(endpoint, reply, route, dependencies);
  const position = await positionOf(endpoint, reply, route, dependencies);
  const { baseUrl, mediaLinks, clock } = dependencies;
  const located = withObservedLinks(reply.data).replaceAll(BASE_URL_MARK, baseUrl);
  return {
    ...reply,
    asOf,
    position,
    data: replaceStoredMedia(located, (name) => mediaLinks.sign(name, clock.now())),
  };
};

/** True for a refusal by a limit of the caller, or its time. Errors of servers become refusals later, in `toOverload`. */
const isOverload = (error: unknown): boolean =>
  error instanceof TimeUsedUp || (error instanceof Refusal && error.code === 'overloaded');

/**
 * Runs the handler, and replaces the base-URL mark and the placeholders of media files in its reply. Equal concurrent
 * reads of one database run the handler once: `readKey` identifies endpoint and input of a read, and `createCall` is only
 * used when the handler runs. A write reads from the primary, and so does the caller until its replica shows the write.
 */
export const runEndpointHandler = async (
  endpoint: Endpoint,
  caller: Caller,
  readKey: string,
  createCall: () => HandlerCall,
  dependencies: OperationDependencies,
): Promise<Reply> => {
  const { readRoutes, coalesceReads } = dependencies;
  const route = endpoint.method === 'GET' ? readRoutes.routeOf(caller.keyId) : readRoutes.primary;
  let hasRun = false;
  const run = async (): Promise<HandledRead> => {
    hasRun = true;
    return { reply: await callHandler(endpoint, createCall(), route, dependencies), route };
  };
  const scope = sharingScope(endpoint, caller);
  const share = async (sharers: string): Promise<HandledRead> => {
    try {
      const shared = coalesceReads(`${route.name} ${sharers} ${readKey}`, run);
      return await (hasRun ? shared : untilTimeUsedUp(shared));
    } catch (error) {
      // The read ran as another caller, whose limits say nothing about this one. It runs once more, for this workspace.
      if (hasRun || !isOverload(error)) throw error;
      requireTime();
      return untilTimeUsedUp(coalesceReads(`${route.name} ${caller.workspaceId} ${sharers} ${readKey}`, run));
    }
  };
  let seen = route;
  try {
    const handled = await (scope === null ? run() : share(scope));
    seen = handled.route;
    return handled.reply;
  } catch (error) {
    throw toOverload(error);
  } finally {
    readRoutes.saw(caller.keyId, seen);
  }
};
