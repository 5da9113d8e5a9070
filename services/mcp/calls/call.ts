import type { Caller } from '#application/access/key-lease-cache.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import { invoke } from '#operations/invoke.ts';
import { omitUndefined } from '#operations/endpoint/omit-undefined.ts';
import type { Json } from '../output/observed.ts';
import type { ToolContext } from '../tools/define-tool.ts';

/** One request to the MCP endpoint: who calls, and the id that logs and events carry. */
export type McpCall = {
  readonly caller: Caller;
  readonly requestId: string;
  /** Arrival time in milliseconds since 1970. */
  readonly now: number;
};

/** Returns what tools work with: calls of endpoints as this caller, in this caller's workspace. */
export const createToolContext = (
  { caller, requestId, now }: McpCall,
  dependencies: OperationDependencies,
): ToolContext => ({
  caller,
  now,
  clock: dependencies.clock,
  baseUrl: dependencies.baseUrl,
  cursors: dependencies.cursors,
  call: async (endpoint, { params = {}, query = {}, body } = {}) => {
    const workspace = endpoint.path.includes('{ws}') ? { ws: caller.workspaceId } : {};
    const input = { params: { ...workspace, ...params }, query: omitUndefined(query), body };
    const reply = await invoke(endpoint, input, caller, dependencies, { requestId });
    return { data: JSON.parse(reply.data) as Json, asOf: reply.asOf, cursor: reply.cursor };
  },
});
