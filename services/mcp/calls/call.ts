import type { Caller } from '#application/access/key-lease-cache.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import { invoke } from '#operations/invoke.ts';
import { omitUndefined } from '#operations/endpoint/omit-undefined.ts';
import type { Thumbnails } from '#application/media/thumbnails.ts';
import type { Json } from '../output/observed.ts';
import { readPictures } from '../output/pictures.ts';
import type { ToolContext } from '../tools/define-tool.ts';

export type McpCall = {
  readonly caller: Caller;
  readonly requestId: string;
  readonly now: number;
};

export type McpDependencies = OperationDependencies & { readonly thumbnails: Thumbnails };

/** Calls endpoints as this caller, in this caller's workspace. */
export const createToolContext = (
  { caller, requestId, now }: McpCall,
  dependencies: McpDependencies,
): ToolContext => ({
  caller,
  now,
  clock: dependencies.clock,
  baseUrl: dependencies.baseUrl,
  cursors: dependencies.cursors,
  pictures: (creatives, asked) => readPictures(creatives, asked, dependencies),
  call: async (endpoint, { params = {}, query = {}, body } = {}) => {
    const workspace = endpoint.path.includes('{ws}') ? { ws: caller.workspaceId } : {};
    const input = { params: { ...workspace, ...params }, query: omitUndefined(query), body };
    const reply = await invoke(endpoint, input, caller, dependencies, { requestId });
    return { data: JSON.parse(reply.data) as Json, asOf: reply.asOf, cursor: reply.cursor };
  },
});
