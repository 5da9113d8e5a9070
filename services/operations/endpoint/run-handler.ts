import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { BASE_URL_MARK } from '#contracts/values/base-url.ts';
import { withObservedLinks } from '#contracts/values/links/observed-link.ts';
import { replaceStoredMedia } from '#contracts/values/media/stored-media.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import type { ReadRoute } from '#application/reads/read-routes.ts';
import type { HandledRead, OperationDependencies } from '../dependencies/dependencies.ts';
import type { Call, Endpoint, ExecuteCommand } from './define-endpoint.ts';
import type { WorkspaceCommands } from '#application/commands/workspace-commands.ts';
import { toOverload } from './overload.ts';
import { isPast, momentOf, readPast } from './read-past.ts';
import type { Reply } from './reply.ts';

/** Parameters are checked by the contract, not by the compiler. */
export type HandlerCall = Omit<Call<Record<string, unknown>, Record<string, unknown>, unknown>, 'execute'>;

/**
 * Callers that may share a read: all (`''`), a workspace, or those with one key, whose scopes are equal. `null` for a
 * read about the key.
 */
const sharingScope = (endpoint: Endpoint, caller: Caller, query: HandlerCall['query']): string | null => {
  if (endpoint.method !== 'GET') return null;
  if (endpoint.corpus) return endpoint.heavy || isPast(endpoint, query) ? caller.workspaceId : '';
  return endpoint.path.includes('{ws}') ? caller.keyId : null;
};

const lightDatabase = (db: ReadDatabase): ReadDatabase => ({
  query: (statement) => db.query(statement),
  slow: () => {
    throw new Error('The endpoint reads heavily, and its contract does not say so. Set `heavy`.');
  },
});

const heavyDatabase = (
  db: ReadDatabase,
  workspaceId: string,
  { heavyReads }: OperationDependencies,
): ReadDatabase => ({
  query: (statement) => db.query(statement),
  slow: (statement) => heavyReads(workspaceId, () => db.slow(statement)),
});

/** Caches dependencies of light reads, because most reads need none of their own. */
const lightOnPrimary = new WeakMap<OperationDependencies, OperationDependencies>();

const dependenciesOf = (
  endpoint: Endpoint,
  route: ReadRoute,
  workspaceId: string,
  dependencies: OperationDependencies,
): OperationDependencies => {
  if (endpoint.heavy) return { ...dependencies, db: heavyDatabase(route.db, workspaceId, dependencies) };
  if (route !== dependencies.readRoutes.primary) return { ...dependencies, db: lightDatabase(route.db) };
  const known = lightOnPrimary.get(dependencies);
  if (known) return known;
  const created = { ...dependencies, db: lightDatabase(route.db) };
  lightOnPrimary.set(dependencies, created);
  return created;
};

/**
 * A reply without an observation holds now, unless its read models lack events. Waits for nothing that most reads do
 * not need.
 */
const completeRead = async (
  { reads }: Endpoint,
  reply: Reply,
  route: ReadRoute,
  { readModelLag, readRoutes }: OperationDependencies,
): Promise<Pick<Reply, 'asOf'> & { readonly position: bigint | null }> => {
  const asOf = reply.asOf ?? (await readModelLag.completeAt(route, reads));
  const shown = readRoutes.shownUpTo(route, reads);
  return { asOf, position: shown && (await shown) };
};

/** Adds what each command of a call shares. */
const createExecute =
  (
    workspaceCommands: WorkspaceCommands,
    call: {
      readonly caller: Caller;
      readonly requestId: string;
      readonly commandId: string;
      readonly mayRepeat: boolean;
    },
  ): ExecuteCommand =>
  (command) =>
    workspaceCommands.execute({
      workspaceId: call.caller.workspaceId,
      actor: { kind: call.caller.kind, id: call.caller.keyId },
      requestId: call.requestId,
      commandId: call.commandId,
      mayRepeat: call.mayRepeat,
      ...command,
    });

const callHandler = async (
  endpoint: Endpoint,
  call: HandlerCall,
  route: ReadRoute,
  dependencies: OperationDependencies,
): Promise<Reply> => {
  const execute = createExecute(dependencies.workspaceCommands, call);
  const handle = (own: OperationDependencies): Promise<Reply> =>
    endpoint.handler({ ...call, execute } as Call<never, never, never>, own);
  const moment = momentOf(endpoint, call.query, dependencies.clock);
  const reply =
    moment === null
      ? await handle(dependenciesOf(endpoint, route, call.caller.workspaceId, dependencies))
      : await readPast(endpoint, call, moment, dependencies, handle);
  const completed =
    endpoint.method === 'GET' && moment === null
      ? await completeRead(endpoint, reply, route, dependencies)
      : {};
  const { baseUrl, mediaLinks, clock } = dependencies;
  const located = withObservedLinks(reply.data).replaceAll(BASE_URL_MARK, baseUrl);
  const data = replaceStoredMedia(located, (name) => mediaLinks.sign(name, clock.now()));
  return { ...reply, ...completed, data };
};

/**
 * Runs the handler once for equal concurrent reads (`readKey`). After a write its caller reads from the primary for
 * some seconds.
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
  const call = createCall();
  const run = async (): Promise<HandledRead> => ({
    reply: await callHandler(endpoint, call, route, dependencies),
    route,
  });
  const scope = sharingScope(endpoint, caller, call.query);
  let seen = route;
  try {
    const handled = await (scope === null ? run() : coalesceReads(`${route.name} ${scope} ${readKey}`, run));
    seen = handled.route;
    return handled.reply;
  } catch (error) {
    throw toOverload(error);
  } finally {
    readRoutes.saw(caller.keyId, seen);
  }
};
