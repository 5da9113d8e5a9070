import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { withObservedLinks } from '#contracts/values/observed-link.ts';
import { replaceStoredMedia } from '#contracts/values/stored-media.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { OperationDependencies } from '../dependencies/dependencies.ts';
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
  { readModelLag }: OperationDependencies,
): Promise<string | null> =>
  asOf !== null || endpoint.method !== 'GET' ? asOf : readModelLag.completeAt(endpoint.reads);

const callHandler = async (
  endpoint: Endpoint,
  call: HandlerCall,
  dependencies: OperationDependencies,
): Promise<Reply> => {
  const execute = createExecute(dependencies.workspaceCommands, call);
  const db = dependencies.heavyReads.of(dependencies.db, call.caller.workspaceId);
  const reply = await endpoint.handler({ ...call, execute } as Call<never, never, never>, {
    ...dependencies,
    db,
  });
  const asOf = await asOfReply(endpoint, reply, dependencies);
  const { baseUrl, mediaLinks, clock } = dependencies;
  const located = withObservedLinks(reply.data).replaceAll(BASE_URL_MARK, baseUrl);
  return {
    ...reply,
    asOf,
    data: replaceStoredMedia(located, (name) => mediaLinks.sign(name, clock.now())),
  };
};

/**
 * Runs the handler, and replaces the base-URL mark and the placeholders of media files in its reply. Equal concurrent
 * reads run the handler once: `readKey` identifies endpoint and input of a read, and `createCall` is only used when the
 * handler runs.
 */
export const runEndpointHandler = (
  endpoint: Endpoint,
  caller: Caller,
  readKey: string,
  createCall: () => HandlerCall,
  dependencies: OperationDependencies,
): Promise<Reply> => {
  const run = async (): Promise<Reply> => {
    try {
      return await callHandler(endpoint, createCall(), dependencies);
    } catch (error) {
      throw toOverload(error);
    }
  };
  const scope = sharingScope(endpoint, caller);
  return scope === null ? run() : dependencies.coalesceReads(`${scope} ${readKey}`, run);
};
