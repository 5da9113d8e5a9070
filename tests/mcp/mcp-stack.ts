import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { FastifyInstance } from 'fastify';
import type { Caller } from '#application/access/key-lease-cache.ts';
import { sha256Of } from '#application/access/key-format.ts';
import { createThumbnails } from '#application/media/thumbnails.ts';
import type { OperationDependencies } from '#operations/dependencies/dependencies.ts';
import { type McpEndpoint, buildMcpApp } from '#services/mcp/app.ts';
import type { McpDependencies } from '#services/mcp/calls.ts';
import type { ApiStack } from '../operations/fixtures/stack.ts';

/** The two revisions: `auto` discovers the newer one, `legacy` initializes. */
export const REVISIONS = ['auto', 'legacy'] as const;
export type Revision = (typeof REVISIONS)[number];

export type McpStack = {
  readonly app: FastifyInstance;
  readonly url: string;
  readonly dependencies: McpDependencies;
  /** Returns an access token; `change` alters the caller of the API key. */
  connect(key: { readonly text: string }, change?: Partial<Caller>): Promise<string>;
  client(token: string, revision?: Revision): Promise<Client>;
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
};

export const withThumbnails = (operations: OperationDependencies): McpDependencies => ({
  ...operations,
  thumbnails: createThumbnails(operations.objectStore),
});

/** Uses a free port of the loopback interface. The test issues tokens itself. */
export const openMcpStack = async (
  stack: ApiStack,
  options: Partial<
    Pick<McpEndpoint, 'hasWrites' | 'allowedOrigins' | 'createServer' | 'responseMode' | 'refusedPerMinute'>
  > & {
    readonly trustedProxies?: readonly string[];
    readonly dependencies?: Partial<McpDependencies>;
    readonly operations?: Parameters<ApiStack['operations']>[0];
    readonly callBudgetMs?: number;
  } = {},
): Promise<McpStack & AsyncDisposable> => {
  const dependencies = { ...withThumbnails(stack.operations(options.operations)), ...options.dependencies };
  const callers = new Map<string, Caller>();
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const endpoint: McpEndpoint = {
    baseUrl,
    allowedOrigins: options.allowedOrigins ?? [],
    hasWrites: options.hasWrites ?? true,
    dependencies,
    verifyAccessToken: async (token) => callers.get(token) ?? null,
    ...(options.createServer === undefined ? {} : { createServer: options.createServer }),
    ...(options.responseMode === undefined ? {} : { responseMode: options.responseMode }),
    ...(options.refusedPerMinute === undefined ? {} : { refusedPerMinute: options.refusedPerMinute }),
  };
  const { callBudgetMs, trustedProxies = [] } = options;
  const app = await buildMcpApp(endpoint, {
    trustedProxies,
    ...(callBudgetMs === undefined ? {} : { callBudgetMs }),
  });
  await app.listen({ host: '127.0.0.1', port });
  const url = `${baseUrl}/mcp`;
  return {
    app,
    url,
    dependencies,
    connect: async (key, change = {}) => {
      const caller = await dependencies.callers.find(sha256Of(key.text));
      if (!caller) throw new Error('unknown key');
      const token = `token-${callers.size + 1}`;
      callers.set(token, { ...caller, kind: 'connection', ...change });
      return token;
    },
    client: async (token, revision = 'auto') => {
      const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation: { mode: revision } });
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      return client;
    },
    post: (body, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    [Symbol.asyncDispose]: () => app.close(),
  };
};

const freePort = async (): Promise<number> => {
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};
