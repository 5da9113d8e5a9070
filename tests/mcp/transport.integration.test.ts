import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES } from '#contracts/values/access.ts';
import { CALLS_AT_ONCE_MAX } from '#services/mcp/calls.ts';
import { INSTRUCTIONS } from '#services/mcp/app.ts';
import { on } from '../dsl/api.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { proxied } from '../faults/fault-proxy.ts';
import type { CorpusBrand } from '../operations/fixtures/corpus.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { type McpStack, openMcpStack, REVISIONS } from './mcp-stack.ts';

let stack: ApiStack;
let mcp: McpStack & AsyncDisposable;
let key: Key;
let token: string;
let alpha: CorpusBrand;

/** Size of `tools/list` that the specification of this server allows. */
const TOOLS_LIST_MAX_BYTES = 34 * 1024;
const INSTRUCTIONS_MAX_LENGTH = 1_200;
/** More than the refused requests of the other tests together: the minute stands still. */
const REFUSED_PER_MINUTE = 60;
const READS = SCOPES.filter((scope) => scope.endsWith(':read'));

beforeAll(async () => {
  stack = await openApiStack();
  const noon = new Date('2026-11-20T12:00:30.000Z');
  // A fixed clock, so that the minute of the rate limit does not end during a test.
  mcp = await openMcpStack(stack, {
    allowedOrigins: ['https://inspector.example'],
    refusedPerMinute: REFUSED_PER_MINUTE,
    trustedProxies: ['127.0.0.1'],
    operations: { clock: { now: () => noon }, nats: new Promise(() => undefined) },
  });
  let brands: readonly CorpusBrand[];
  [key, brands] = await Promise.all([stack.key({ plan: 'business' }), stack.seed(['alpha', 'beta'])]);
  [alpha] = brands as [CorpusBrand];
  token = await mcp.connect(key);
});
afterAll(async () => {
  await mcp[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

test('a tool whose reads together take too long is given up in the time of a request', async () => {
  await using resources = new AsyncDisposableStack();
  const { proxy, url } = await proxied(stack.environment['DATABASE_URL'] ?? '');
  resources.use(proxy);
  const db = resources.use(openReadDatabase(url));
  const slow = resources.use(await openMcpStack(stack, { operations: { db }, callBudgetMs: 2_500 }));
  const text = await slow.connect(key);
  const client = await slow.client(text);
  const call = () => client.callTool({ name: 'get_brand', arguments: { brand: 'alpha' } });
  expect((await call()).isError).not.toBe(true);
  // Each read alone is in time.
  proxy.set('slow', 1_200);
  const since = performance.now();
  const { isError, content } = await call();
  expect(performance.now() - since).toBeLessThan(5_000);
  expect(isError).toBe(true);
  expect(JSON.stringify(content)).toContain('took too long');
  proxy.set('pass');
  await client.close();
});

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const NEWER = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
/** The newer revision names its version in the body too. */
const newer = (version: string) =>
  rpc('tools/list', {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  });
/** The older revision needs no headers beyond the token. */
const older = (text: string, method: string, params: object = {}, headers = {}) =>
  mcp.post(rpc(method, params), { ...bearer(text), 'mcp-protocol-version': '2025-11-25', ...headers });

describe.each(REVISIONS)('client of revision %s', (revision) => {
  test('lists and calls tools, with the figures of the API', async () => {
    const client = await mcp.client(token, revision);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision === 'auto' ? '2026-07-28' : '2025-11-25');
    expect(client.getInstructions()).toBe(INSTRUCTIONS);
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(18);
    const api = await on(await stack.api()).get('/v1/brands', { key });
    const result = await client.callTool({ name: 'find_brands', arguments: {} });
    const content = result.structuredContent as {
      items: { id: string; active_ads: number }[];
      as_of: string;
    };
    const [first] = result.content as { type: string; text: string }[];
    expect(JSON.parse(first?.text ?? '')).toEqual(content);
    expect(content.as_of).toBe(api.meta.as_of);
    const expected = (api.data as { id: string; active_ads: number }[]).map((one) => [
      one.id,
      one.active_ads,
    ]);
    expect(content.items.map(({ id, active_ads }) => [id, active_ads])).toEqual(expected);
    expect(expected).toHaveLength(2);
    await client.close();
  });

  test('reads resources and prompts, and completes slugs', async () => {
    const client = await mcp.client(token, revision);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['adintel://guide']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toHaveLength(3);
    const { contents } = await client.readResource({ uri: `adintel://brands/${alpha.slug}` });
    const [brand] = contents as { text: string }[];
    expect(JSON.parse(brand?.text ?? '')).toMatchObject({
      id: `brand:${alpha.slug}`,
      title: 'Brand alpha.com',
    });
    const ad = await client.readResource({ uri: `adintel://ads/${alpha.adIds[0]}` });
    expect(ad.contents).toHaveLength(1);
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'adintel://brands/{slug}' },
      argument: { name: 'slug', value: 'alp' },
    });
    expect(completion.values).toEqual([alpha.slug]);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual([
      'weekly_competitor_brief',
      'compare_brands',
      'creative_teardown',
      'what_changed',
    ]);
    const prompt = await client.getPrompt({ name: 'compare_brands', arguments: { a: 'alpha', b: 'beta' } });
    const [message] = prompt.messages as { content: { text: string } }[];
    const text = message?.content.text ?? '';
    for (const word of ['"alpha"', 'as_of', 'library_url', 'spend', 'find_brands'])
      expect(text).toContain(word);
    await expect(client.readResource({ uri: 'adintel://brands/no-such-brand' })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(client.readResource({ uri: 'adintel://others/1' })).rejects.toMatchObject({ code: -32602 });
    const wrong = { name: 'what_changed', arguments: { days: '91' } };
    await expect(client.getPrompt(wrong)).rejects.toMatchObject({ code: -32602 });
    await expect(client.getPrompt({ name: 'unknown' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.callTool({ name: 'unknown', arguments: {} })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });
});

test('what the server is may be kept for five minutes by anybody', async () => {
  const message = { ...newer('2026-07-28'), method: 'server/discover' };
  const reply = await mcp.post(message, { ...bearer(token), ...NEWER, 'mcp-method': 'server/discover' });
  expect(reply.status).toBe(200);
  const { result } = (await reply.json()) as { result: object };
  expect(result).toMatchObject({ ttlMs: 300_000, cacheScope: 'public' });
});

test('instructions and the list of tools stay within their sizes', async () => {
  expect(INSTRUCTIONS.length).toBeLessThanOrEqual(INSTRUCTIONS_MAX_LENGTH);
  const client = await mcp.client(token);
  const { tools, ...list } = await client.listTools();
  expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(TOOLS_LIST_MAX_BYTES);
  expect(list).toMatchObject({ ttlMs: 300_000, cacheScope: 'private' });
  for (const { name, annotations, inputSchema } of tools) {
    expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false });
    expect(JSON.stringify(inputSchema), name).not.toContain('$ref');
    expect(annotations?.openWorldHint, name).toBe(false);
  }
  expect(
    tools.filter(({ annotations }) => annotations?.destructiveHint === true).map(({ name }) => name),
  ).toEqual(['untrack_brand']);
  await client.close();
});

describe('authentication', () => {
  test('no token: 401 with the place to sign in, and no error', async () => {
    const reply = await mcp.post(rpc('tools/list'));
    expect(reply.status).toBe(401);
    const challenge = reply.headers.get('www-authenticate') ?? '';
    expect(challenge).toContain('/.well-known/oauth-protected-resource/mcp"');
    expect(challenge).toContain('scope="system:read brands:read');
    expect(challenge).not.toMatch(/error=|apiKeys|:write/);
  });

  test.each([() => key.text, () => 'unknown', () => 'x'.repeat(9_000)])(
    'a token that is not valid: 401',
    async (text) => {
      const reply = await mcp.post(rpc('tools/list'), bearer(text()));
      expect(reply.status).toBe(401);
      expect(reply.headers.get('www-authenticate')).toContain('error="invalid_token"');
    },
  );

  test('refused requests meet a limit by address, and hold up no valid token', async () => {
    const forwarded = { 'x-forwarded-for': '198.51.100.1' };
    const send = async (headers: object) => mcp.post(rpc('tools/list'), { ...forwarded, ...headers });
    expect((await older(token, 'tools/list', {}, forwarded)).status).toBe(200);
    for (let count = 0; count < REFUSED_PER_MINUTE; count += 1)
      expect((await send(count % 2 === 0 ? {} : bearer('invented'))).status).toBe(401);
    const refused = await send({});
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '30']);
    expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32_000 } });
    expect((await send(bearer('invented too'.replaceAll(' ', '-')))).status).toBe(429);
    expect((await older(token, 'tools/list', {}, forwarded)).status).toBe(200);
    expect((await mcp.post(rpc('tools/list'))).status).toBe(401);
  });

  test('a token in the address or in the body is not read: 401', async () => {
    const body = JSON.stringify({ ...rpc('tools/list'), access_token: token });
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${mcp.url}?access_token=${token}`, { method: 'POST', headers, body });
    expect(reply.status).toBe(401);
  });
});

describe.each(REVISIONS)('scopes, revision %s', (revision) => {
  test('a missing scope is asked for with all that the call needs; reads go on', async () => {
    const reader = await mcp.connect(key, { scopes: new Set(READS) });
    const client = await mcp.client(reader, revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('track_brand');
    const call = { name: 'track_brand', arguments: { brand: alpha.slug } };
    await expect(client.callTool(call)).rejects.toThrow(/403|scope|auth/i);
    await client.close();
    const reply = await older(reader, 'tools/call', call);
    expect(reply.status).toBe(403);
    const challenge = reply.headers.get('www-authenticate') ?? '';
    expect(challenge).toContain('error="insufficient_scope"');
    expect(challenge).toContain('scope="tracking:write brands:read"');
    expect(challenge).toContain('resource_metadata=');
  });
});

test('a viewer sees no tool that writes, nor does anybody where writes are off', async () => {
  const viewer = await mcp.connect(key, { role: 'viewer', scopes: new Set(READS) });
  const client = await mcp.client(viewer);
  const { tools } = await client.listTools();
  expect(tools).toHaveLength(13);
  await expect(
    client.callTool({ name: 'track_brand', arguments: { brand: alpha.slug } }),
  ).rejects.toMatchObject({
    code: -32602,
  });
  await client.close();
  await using readOnly = await openMcpStack(stack, { hasWrites: false });
  const owner = await readOnly.client(await readOnly.connect(key));
  expect((await owner.listTools()).tools).toHaveLength(13);
  await owner.close();
});

describe('messages that are not accepted', () => {
  test.each([
    ['not JSON', '{', {}, 400, -32700],
    ['a list', [rpc('ping')], {}, 400, -32600],
    ['a value', '1', {}, 400, -32600],
    ['another content type', '{}', { 'content-type': 'text/plain' }, 415, -32000],
    ['too large', `{"a":"${'x'.repeat(70_000)}"}`, {}, 413, -32000],
    ['an unknown origin', rpc('ping'), { origin: 'https://evil.example' }, 403, -32000],
    ['a header against the body', newer('2026-07-28'), { ...NEWER, 'mcp-method': 'tools/call' }, 400, -32020],
    [
      'an unknown version',
      newer('2030-01-01'),
      { ...NEWER, 'mcp-protocol-version': '2030-01-01' },
      400,
      -32022,
    ],
  ])('%s', async (_, body, headers, status, code) => {
    const reply = await mcp.post(body, { ...bearer(token), ...headers });
    expect(reply.status).toBe(status);
    const { error } = (await reply.json()) as { error: { code: number } };
    expect(error.code).toBe(code);
  });

  test('an allowed origin is served; another host is not', async () => {
    const allowed = await older(token, 'ping', {}, { origin: 'https://inspector.example' });
    expect(allowed.status).toBe(200);
    const reply = await mcp.app.inject({ method: 'POST', url: '/mcp', headers: { host: 'evil.example' } });
    expect(reply.statusCode).toBe(403);
  });

  test.each(['GET', 'DELETE'])('%s is 405', async (method) => {
    const reply = await fetch(mcp.url, { method, headers: bearer(token) });
    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe('POST');
  });
});

describe('a browser client', () => {
  const ORIGIN = 'https://inspector.example';
  const preflight = (path: string, origin: string) =>
    fetch(new URL(path, mcp.url), {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,mcp-protocol-version',
      },
    });
  const listOf = (reply: Response, name: string) => reply.headers.get(name)?.toLowerCase().split(/, */);

  test.each(['/mcp', '/mcp/'])('of an allowed origin gets the headers of its preflight: %s', async (path) => {
    for (const origin of [ORIGIN, new URL(mcp.url).origin]) {
      const reply = await preflight(path, origin);
      expect([reply.status, await reply.text()]).toEqual([204, '']);
      expect(reply.headers.get('access-control-allow-origin')).toBe(origin);
      expect(listOf(reply, 'vary')).toContain('origin');
      expect(listOf(reply, 'access-control-allow-methods')).toEqual(['post', 'get', 'delete']);
      expect(listOf(reply, 'access-control-allow-headers')).toEqual(
        expect.arrayContaining([
          'authorization',
          'content-type',
          'mcp-protocol-version',
          'mcp-session-id',
          'last-event-id',
        ]),
      );
      expect(Number(reply.headers.get('access-control-max-age'))).toBeGreaterThan(0);
    }
  });

  test.each(['/mcp', '/mcp/'])('of another origin is refused with the reason: %s', async (path) => {
    for (const origin of ['https://evil.example', 'null', `${ORIGIN}.evil.example`]) {
      const reply = await preflight(path, origin);
      expect([reply.status, await reply.text()]).toEqual([
        403,
        expect.stringContaining('MCP_ALLOWED_ORIGINS'),
      ]);
      expect(reply.headers.get('access-control-allow-origin')).toBeNull();
      expect(listOf(reply, 'vary')).toContain('origin');
    }
  });

  test('may read each reply, also without a token, and only from its origin', async () => {
    const replies = [
      await older(token, 'ping', {}, { origin: ORIGIN }),
      await mcp.post(rpc('ping'), { origin: ORIGIN }),
      await mcp.post('{', { ...bearer(token), origin: ORIGIN }),
      await fetch(`${mcp.url}/`, { headers: { origin: ORIGIN } }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 401, 400, 405]);
    for (const reply of replies) {
      expect(reply.headers.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(listOf(reply, 'vary')).toContain('origin');
      expect(listOf(reply, 'access-control-expose-headers')).toEqual(
        expect.arrayContaining(['www-authenticate', 'mcp-session-id', 'mcp-protocol-version']),
      );
    }
    const own = await older(token, 'ping');
    expect(own.headers.get('access-control-allow-origin')).toBeNull();
    expect(listOf(own, 'vary')).toContain('origin');
  });

  test('gets the same replies at /mcp/ as at /mcp', async () => {
    const reply = await fetch(`${mcp.url}/`, {
      method: 'POST',
      headers: {
        ...bearer(token),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(rpc('ping')),
    });
    expect(reply.status).toBe(200);
  });
});

describe('limits', () => {
  test('a call costs one request per endpoint, of the minute that all connections of a member share', async () => {
    const poor = await stack.key({ plan: 'free' });
    const [one, other] = [await mcp.connect(poor), await mcp.connect(poor, { keyId: 'another connection' })];
    const { data } = await on(await stack.api()).get('/v1/me', { key: poor });
    const { requests_per_minute: limit } = data as { requests_per_minute: number };
    const call = {
      name: 'get_brand',
      arguments: { brand: alpha.slug, include: ['velocity', 'formats', 'leakage'] },
    };
    let used = 0;
    for (let turn = 0; used + 4 <= limit; turn += 1) {
      expect((await older(turn % 2 === 0 ? one : other, 'tools/call', call)).status).toBe(200);
      used += 4;
    }
    // The rest of the minute is smaller than this call, and a smaller call still fits.
    for (; used < limit; used += 1) {
      expect((await older(one, 'tools/call', call)).status).toBe(429);
      expect((await older(one, 'tools/call', { name: 'find_brands', arguments: {} })).status).toBe(200);
    }
    const reply = await older(other, 'tools/call', { name: 'find_brands', arguments: {} });
    expect(reply.status).toBe(429);
    expect(reply.headers.get('retry-after')).toBe('30');
    expect((await older(other, 'tools/list')).status).toBe(200);
  });

  test('more calls at once than a connection may have are refused', async () => {
    const gate = Promise.withResolvers<void>();
    const { db: opened } = mcp.dependencies;
    const db: typeof opened = {
      slow: (statement) => opened.slow(statement),
      query: (statement) => gate.promise.then(() => opened.query(statement)),
    };
    await using held = await openMcpStack(stack, { dependencies: { db } });
    const own = await held.connect(key);
    const post = () =>
      held.post(rpc('tools/call', { name: 'search_ads', arguments: { q: 'boots' } }), {
        ...bearer(own),
        'mcp-protocol-version': '2025-11-25',
      });
    const replies = Array.from({ length: CALLS_AT_ONCE_MAX + 1 }, post);
    const refused = await Promise.any(
      replies.map(async (reply) => {
        if ((await reply).status !== 429) throw new Error('served');
        return reply;
      }),
    );
    expect(refused.headers.get('retry-after')).toBe('1');
    gate.resolve();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(CALLS_AT_ONCE_MAX);
    expect((await post()).status).toBe(200);
  });
});
