import { completable, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { registerInputTools, STATE } from './fixture-inputs.ts';

const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const AUDIO = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const textOf = (text: string) => ({ type: 'text', text }) as const;
const image = { type: 'image', data: IMAGE, mimeType: 'image/png' } as const;
const embedded = (uri: string) =>
  ({ type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'An embedded resource.' } }) as const;

const registerTools = (server: McpServer): void => {
  const add = (name: string, content: readonly object[]): void => {
    server.registerTool(name, { description: `Returns ${name}.` }, () => ({ content: content as never }));
  };
  add('test_simple_text', [textOf('This is a simple text response for testing.')]);
  add('test_image_content', [image]);
  add('test_audio_content', [{ type: 'audio', data: AUDIO, mimeType: 'audio/wav' }]);
  add('test_embedded_resource', [embedded('test://embedded-resource')]);
  add('test_multiple_content_types', [textOf('Several:'), image, embedded('test://mixed-content-resource')]);
  server.registerTool('test_error_handling', { description: 'Fails.' }, () => ({
    content: [textOf('This tool intentionally returns an error for testing')],
    isError: true,
  }));
  server.registerTool('test_tool_with_progress', { description: 'Reports progress.' }, async (context) => {
    const { _meta: meta } = context.mcpReq;
    const progressToken = meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken === undefined) break;
      const params = { progressToken, progress, total: 100 };
      await context.mcpReq.notify({ method: 'notifications/progress', params });
    }
    return { content: [textOf('done')] };
  });
  server.registerTool('test_tool_with_logging', { description: 'Logs.' }, async (context) => {
    for (const data of ['started', 'processing', 'completed']) {
      await context.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
    }
    return { content: [textOf('done')] };
  });
};

const registerResources = (server: McpServer): void => {
  // Resources do not change here, so that a subscription has nothing to report.
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  const plain = { mimeType: 'text/plain' };
  server.registerResource('text', 'test://static-text', plain, ({ href }) => ({
    contents: [{ uri: href, ...plain, text: 'This is the content of the static text resource.' }],
  }));
  server.registerResource('binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: IMAGE }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const json = { mimeType: 'application/json' };
  server.registerResource('template', template, json, ({ href }, { id }) => ({
    contents: [{ uri: href, ...json, text: JSON.stringify({ id, data: `Data for ID: ${String(id)}` }) }],
  }));
};

const registerPrompts = (server: McpServer): void => {
  const user = (content: object) => ({ messages: [{ role: 'user', content: content as never }] }) as const;
  server.registerPrompt(
    'test_simple_prompt',
    { description: 'A prompt.' },
    () => user(textOf('This is a simple prompt for testing.')) as never,
  );
  const words = completable(z.string(), (start) =>
    ['testValue1', 'test'].filter((one) => one.startsWith(start)),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'A prompt with arguments.', argsSchema: z.object({ arg1: words, arg2: z.string() }) },
    ({ arg1, arg2 }) => user(textOf(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)) as never,
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a resource.', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => user(embedded(resourceUri)) as never,
  );
  server.registerPrompt(
    'test_prompt_with_image',
    { description: 'A prompt with a picture.' },
    () => user(image) as never,
  );
};

/** Creates a server with what the official suite calls, and nothing of this service. */
export const createFixtureServer = (): McpServer => {
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} },
      requestState: { verify: (state, context) => STATE.verify(state, context) },
      cacheHints: {
        'tools/list': { ttlMs: 1_000, cacheScope: 'private' },
        'server/discover': { ttlMs: 1_000, cacheScope: 'public' },
      },
    },
  );
  registerTools(server);
  registerInputTools(server);
  registerResources(server);
  registerPrompts(server);
  return server;
};
