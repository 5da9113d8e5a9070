import type { McpServer, ScopeChallenge, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '#application/access/key-lease-cache.ts';
import { SCOPES, SCOPES_OF_ROLE, type Scope } from '#contracts/values/access.ts';
import type { Tool } from './define-tool.ts';
import { exploreMarket, findBrands, getBrand, rankBrands } from './brands.ts';
import { checkClaim } from './claims.ts';
import { fetchTool } from './fetch.ts';
import { listPages, search, searchAds, searchCreatives } from './search.ts';
import {
  getWorkspace,
  listBriefs,
  listChanges,
  requestReport,
  saveItem,
  trackBrand,
  untrackBrand,
  writeNote,
} from './workspace.ts';
import { type McpCall, type McpDependencies, callTool } from '../calls.ts';

export const TOOLS: readonly Tool[] = [
  search,
  fetchTool,
  findBrands,
  getBrand,
  checkClaim,
  searchAds,
  searchCreatives,
  listPages,
  rankBrands,
  exploreMarket,
  listChanges,
  listBriefs,
  getWorkspace,
  trackBrand,
  untrackBrand,
  saveItem,
  writeNote,
  requestReport,
];

type JsonSchema = Record<string, unknown>;

/** Metadata without the names of components, so that the schema of a tool refers to nothing. */
class UnnamedMetadata extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get(schema: z.core.$ZodType): z.core.GlobalMeta {
    const { id: _id, ...meta } = z.globalRegistry.get(schema) ?? {};
    return meta;
  }
}
const METADATA = new UnnamedMetadata();

/** Cached, because a server is created per request. Accepts every value: `callTool` checks arguments itself. */
const publishedSchema = (schema: z.ZodType, io: 'input' | 'output'): StandardSchemaWithJSON => {
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any', metadata: METADATA }) as JsonSchema;
  return {
    '~standard': {
      version: 1,
      vendor: 'ad-intelligence',
      validate: (value) => ({ value }),
      jsonSchema: { input: () => json, output: () => json },
    },
  };
};

/** Items are open objects, so that new fields break no client. */
const STRUCTURED = publishedSchema(
  z.looseObject({
    as_of: z.string().meta({ description: 'Time at which the data holds.' }),
    lag_hours: z.number(),
    next_cursor: z.string().optional(),
    notes: z.array(z.string()),
  }),
  'output',
);
const INPUTS = new Map(TOOLS.map(({ name, input }) => [name, publishedSchema(input, 'input')]));
const TOOLS_BY_NAME = new Map(TOOLS.map((tool) => [tool.name, tool]));

/** Rejected arguments need no scope: the call itself fails. */
const parsedArguments = ({ input }: Tool, args: unknown): unknown => {
  const checked = input.safeParse(args ?? {});
  return checked.success ? checked.data : null;
};

/** Requests that a call costs: 1 for rejected arguments, 0 for an unknown tool. */
export const costOfCall = (name: unknown, args: unknown): number => {
  const tool = typeof name === 'string' ? TOOLS_BY_NAME.get(name) : undefined;
  if (!tool) return 0;
  const parsed = parsedArguments(tool, args);
  return parsed === null ? 1 : tool.cost(parsed as never);
};

/** Scopes that the connection lacks and the role allows: a new sign-in cannot grant others. */
export const challengeFor = (
  needed: readonly Scope[],
  { scopes, role }: Caller,
): ScopeChallenge | undefined => {
  const allowed = new Set(SCOPES_OF_ROLE[role]);
  if (needed.every((scope) => scopes.has(scope)) || !needed.every((scope) => allowed.has(scope)))
    return undefined;
  return { scopes: needed as [string, ...string[]] };
};

const WRITE_SCOPES = new Map(
  TOOLS.filter(({ kind }) => kind === 'writer').map((tool) => [
    tool.name,
    SCOPES.filter((scope) => scope.endsWith(':write') && tool.scopes({} as never).includes(scope)),
  ]),
);

/** A caller sees a writing tool only with a role that has its scope. */
const isListed = (tool: Tool, { role }: Caller, hasWrites: boolean): boolean => {
  if (tool.kind === 'reader') return true;
  const needed = WRITE_SCOPES.get(tool.name) ?? [];
  return hasWrites && needed.every((scope) => SCOPES_OF_ROLE[role].includes(scope));
};
export const registerTools = (
  server: McpServer,
  call: McpCall,
  hasWrites: boolean,
  dependencies: McpDependencies,
): void => {
  for (const tool of TOOLS) {
    if (!isListed(tool, call.caller, hasWrites)) continue;
    const isReader = tool.kind === 'reader';
    const inputSchema = INPUTS.get(tool.name);
    if (!inputSchema) throw new Error(`no schema of ${tool.name}`);
    server.registerTool(
      tool.name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema,
        ...(tool.output === 'structured' ? { outputSchema: STRUCTURED } : {}),
        annotations: isReader
          ? { readOnlyHint: true, openWorldHint: false }
          : {
              readOnlyHint: false,
              destructiveHint: tool.isDestructive === true,
              idempotentHint: true,
              openWorldHint: false,
            },
        scopeChallenge: ({ request }) => {
          const parsed = parsedArguments(tool, request.params?.['arguments']);
          return parsed === null ? undefined : challengeFor(tool.scopes(parsed as never), call.caller);
        },
      },
      (args: unknown) => callTool(tool, args, call, dependencies),
    );
  }
};
