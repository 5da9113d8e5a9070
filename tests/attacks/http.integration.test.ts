import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect } from 'vitest';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import { attack, tries } from './attack.ts';
import { pairRequest, urlOf } from './pair-requests.ts';

/** Attacks on a whole API with its servers. They share one stack. */
let stack: ApiStack;
let app: FastifyInstance;

beforeAll(async () => {
  stack = await openApiStack();
  [app] = await Promise.all([stack.api(), stack.seed(['alpha'])]);
});
afterAll(() => stack[Symbol.asyncDispose]());

/** Requests of one key, below its limit per minute. */
const REQUESTS_PER_KEY = 900;

attack('pairs of hostile parameters and properties meet no internal error', async () => {
  const statuses = new Map<number, number>();
  let key: Key | undefined;
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(pairRequest, async (request) => {
      if (key === undefined || sent % REQUESTS_PER_KEY === 0) key = await stack.key({ plan: 'business' });
      sent += 1;
      const { method, body } = request;
      const { statusCode, body: reply } = await app.inject({
        method,
        url: urlOf(request, key.workspaceId),
        headers: {
          authorization: `Bearer ${key.text}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      });
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
      expect(statusCode, reply).toBeLessThan(500);
      if (statusCode === 400)
        expect((JSON.parse(reply) as { error: { details: object[] } }).error.details).not.toEqual([]);
    }),
    { numRuns: tries(300) },
  );
  expect(statuses.get(400)).toBeGreaterThan(0);
  return [...statuses]
    .toSorted(([one], [other]) => one - other)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ');
});
