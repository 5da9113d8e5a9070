import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SCOPES, type Scope } from '#contracts/values/access.ts';
import { ENDPOINTS } from '#operations/index.ts';
import { on, type Reply } from '../dsl/api.ts';
import {
  importDemo,
  missingIn,
  openWalk,
  prepareBriefs,
  walkCorpus,
} from '../operations/fixtures/demo-walk.ts';
import { lineOf, SPECIFIED } from '../operations/fixtures/specification.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { walkWorkspace } from '../operations/fixtures/workspace-day.ts';

/** The demo corpus is imported, recorded and projected. Each endpoint must refuse a key without its scope. */
const LATER_MS = 2 * 86_400_000;
let stack: ApiStack;
let app: FastifyInstance;
let replies: ReadonlyMap<string, Reply>;
/** For each scope, a key that has all others. */
const keysWithoutScope = new Map<Scope, Key>();

beforeAll(async () => {
  stack = await openApiStack();
  await importDemo(stack);
  app = await stack.api();
  // For an API with a later clock, the keys of today count as unused.
  const later = await stack.api({ clock: { now: () => new Date(Date.now() + LATER_MS) } });
  const walk = openWalk(app, await stack.key({ plan: 'business' }), later);
  await walkCorpus(walk);
  await walkWorkspace(walk, () => prepareBriefs(stack));
  ({ replies } = walk);
  for (const scope of SCOPES) {
    keysWithoutScope.set(scope, await stack.key({ scopes: SCOPES.filter((other) => other !== scope) }));
  }
});
afterAll(() => stack[Symbol.asyncDispose]());

const endpoints = new Map(ENDPOINTS.map((endpoint) => [lineOf(endpoint), endpoint]));

describe.each(SPECIFIED.map((one) => [lineOf(one), one] as const))('%s', (line, { method, path, scope }) => {
  test('replies with data that is not empty', () => {
    const reply = replies.get(line);
    expect([reply?.status, missingIn(line, reply?.data)]).toEqual([endpoints.get(line)?.reply.status, []]);
  });

  test(`is forbidden without ${scope}`, async () => {
    const { paramsExample = {}, body = null } = endpoints.get(line) ?? {};
    const key = keysWithoutScope.get(scope);
    const named: Readonly<Record<string, string>> = { ...paramsExample, ws: key?.workspaceId ?? '' };
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => named[name] ?? '');
    const sent = { ...(key ? { key } : {}), ...(body ? { body: body.example } : {}) };
    expect(await on(app).send(method, url, sent)).toMatchObject({
      status: 403,
      error: { type: 'forbidden' },
    });
  });
});
