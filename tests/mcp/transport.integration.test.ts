import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { on } from '../dsl/api.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { type McpStack, openMcpStack, REVISIONS } from './mcp-stack.ts';

let stack: ApiStack;
let mcp: McpStack & AsyncDisposable;
let key: Key;
let token: string;

beforeAll(async () => {
  stack = await openApiStack();
  mcp = await openMcpStack(stack);
  [key] = await Promise.all([stack.key({ plan: 'business' }), stack.seed(['alpha', 'beta'])]);
  token = await mcp.connect(key);
});
afterAll(async () => {
  await mcp[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

describe.each(REVISIONS)('client of revision %s', (revision) => {
  test('lists tools and calls one, with the figures of the API', async () => {
    const client = await mcp.client(token, revision);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision === 'auto' ? '2026-07-28' : '2025-11-25');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('find_brands');
    const api = await on(await stack.api()).get('/v1/brands', { key });
    const result = await client.callTool({ name: 'find_brands', arguments: {} });
    const content = result.structuredContent as {
      items: { id: string; active_ads: number }[];
      as_of: string;
    };
    const [first] = result.content as { type: string; text: string }[];
    expect(JSON.parse(first?.text ?? '')).toEqual(content);
    expect(content.as_of).toBe(api.meta.as_of);
    const expected = (api.data as { id: string; active_ads: number }[]).map(({ id, active_ads }) => [
      id,
      active_ads,
    ]);
    expect(expected.length).toBeGreaterThan(0);
    expect(content.items.map(({ id, active_ads }) => [id, active_ads])).toEqual(expected);
    await client.close();
  });
});
