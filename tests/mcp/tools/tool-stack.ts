import type { CallToolResult } from '@modelcontextprotocol/server';
import { expect } from 'vitest';
import { sha256Of } from '#application/access/key-format.ts';
import type { Caller } from '#application/access/key-lease-cache.ts';
import { type McpDependencies, callTool } from '#services/mcp/calls.ts';
import { CARD_FIELDS_MAX, RESULT_MAX_BYTES } from '#services/mcp/output/result.ts';
import { TOOLS } from '#services/mcp/tools/register-tools.ts';
import { on, type Reply } from '../../dsl/api.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { withThumbnails } from '../mcp-stack.ts';
import { wordsOutsideObserved } from './agreement.ts';
import { INJECTION } from './hostile-events.ts';

export type Content = {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly as_of: string;
  readonly lag_hours: number;
  readonly next_cursor?: string;
  readonly notes: readonly string[];
};
export type Fetched = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly url: string;
  readonly metadata: { readonly as_of: string; readonly notes: readonly string[] };
};

/** Tools called without the protocol, next to the API over the same data. */
export type ToolStack = AsyncDisposable & {
  readonly stack: ApiStack;
  readonly key: Key;
  readonly caller: Caller;
  readonly dependencies: McpDependencies;
  readonly call: (name: string, args?: object) => Promise<CallToolResult>;
  /** Calls a tool that must succeed, and checks what holds for every result. */
  readonly ask: (name: string, args?: object) => Promise<Content>;
  readonly fetch: (id: string) => Promise<Fetched>;
  /** Requests the API. `{ws}` in the path stands for the workspace. */
  readonly get: (path: string) => Promise<Reply>;
  readonly post: (path: string, body: object) => Promise<Reply>;
};

export const textOf = (result: CallToolResult): string => {
  const [first] = result.content;
  return first?.type === 'text' ? first.text : '';
};

export const openToolStack = async (plan: 'enterprise' | 'free' = 'enterprise'): Promise<ToolStack> => {
  const stack = await openApiStack();
  const [key, api] = await Promise.all([stack.key({ plan }), stack.api()]);
  const dependencies = withThumbnails(stack.operations());
  const caller = await dependencies.callers.find(sha256Of(key.text));
  if (!caller) throw new Error('no caller');
  const pathOf = (path: string): string => path.replace('{ws}', `workspaces/${key.workspaceId}`);

  const call: ToolStack['call'] = async (name, args = {}) => {
    const tool = TOOLS.find((one) => one.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    return callTool(tool, args, { caller, requestId: 'tests', now: Date.now() }, dependencies);
  };
  const ask: ToolStack['ask'] = async (name, args = {}) => {
    const result = await call(name, args);
    expect(result.isError, textOf(result)).toBeUndefined();
    const content = JSON.parse(textOf(result)) as Content & {
      readonly results?: readonly { readonly text: string }[];
      readonly text?: string;
    };
    if (result.structuredContent !== undefined) expect(content).toEqual(result.structuredContent);
    expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(RESULT_MAX_BYTES);
    for (const item of content.items ?? [])
      expect(Object.keys(item).length).toBeLessThanOrEqual(CARD_FIELDS_MAX);
    const opened = {
      ...content,
      results: content.results?.map((one) => ({ ...one, text: JSON.parse(one.text) as unknown })),
      text: content.text === undefined ? null : (JSON.parse(content.text) as unknown),
    };
    expect(wordsOutsideObserved(opened, INJECTION)).toEqual([]);
    return content;
  };
  return {
    stack,
    key,
    caller,
    dependencies,
    call,
    ask,
    fetch: async (id) => (await ask('fetch', { id })) as unknown as Fetched,
    get: (path) => on(api).get(pathOf(path), { key }),
    post: (path, body) => on(api).post(pathOf(path), { key, body }),
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
};
