import { mapAsync } from 'es-toolkit/array/mapAsync';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect } from 'vitest';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { on, type Reply } from '../../dsl/api.ts';
import { attack, isLong, tries } from '../attack.ts';
import { DRAWN_HEADERS, type PairRequest, pairRequest, urlOf } from '../pair-requests.ts';

let stack: ApiStack;
let app: FastifyInstance;

beforeAll(async () => {
  stack = await openApiStack();
  [app] = await Promise.all([stack.api(), stack.seed(['alpha'])]);
});
afterAll(() => stack[Symbol.asyncDispose]());

/** Requests per key: in all 300 in `npm test`, 100,000 in `npm run attack`. */
const REQUESTS_PER_KEY = isLong ? 900 : 300;
const KEYS = isLong ? Math.ceil(tries(5_000) / REQUESTS_PER_KEY) : 1;
const batch = fc.array(pairRequest, { minLength: REQUESTS_PER_KEY, maxLength: REQUESTS_PER_KEY });
/** Requests in flight. Those that wait for a position hold up no others. */
const CONCURRENCY = 100;

/** Sends a request. Allows no 5xx but 503 with `retry-after`; every 400 must name the fault. */
const sendPair = async (request: PairRequest, key: Key): Promise<number> => {
  const { method, body, headers: drawn } = request;
  const {
    statusCode,
    headers,
    body: reply,
  } = await app.inject({
    method,
    url: urlOf(request, key.workspaceId),
    headers: {
      ...drawn,
      authorization: `Bearer ${key.text}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  if (statusCode >= 500) {
    expect([statusCode, headers['retry-after']], reply).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
  }
  if (statusCode === 400)
    expect((JSON.parse(reply) as { error: { details: object[] } }).error.details).not.toEqual([]);
  return statusCode;
};

attack(
  'hostile requests to every endpoint, pairs of parameters included, meet no internal error',
  async () => {
    const statuses = new Map<number, number>();
    const operations = new Set<string>();
    const headersSent = new Set<string>();
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(batch, async (requests) => {
        const key = await stack.key({ plan: 'business' });
        sent += requests.length;
        const send = (request: PairRequest): Promise<number> => sendPair(request, key);
        for (const status of await mapAsync(requests, send, { concurrency: CONCURRENCY })) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
        for (const { operationId, headers } of requests) {
          operations.add(operationId);
          for (const name of Object.keys(headers)) headersSent.add(name);
        }
      }),
      // A batch that fails names its request; to shrink it would repeat all of it.
      { numRuns: KEYS, endOnFailure: true },
    );
    expect(statuses.get(400)).toBeGreaterThan(0);
    expect(headersSent).toEqual(DRAWN_HEADERS);
    expect(headersSent).toContain('idempotency-key');
    const figures = [...statuses]
      .toSorted(([one], [other]) => one - other)
      .map(([status, count]) => `${count} × ${status}`);
    return `${sent} requests to ${operations.size} operations with ${headersSent.size} headers: ${figures.join(', ')}`;
  },
);

const createKey = async (whose: Key) => {
  const path = `/v1/workspaces/${whose.workspaceId}/api-keys`;
  const headers = { 'idempotency-key': randomUUID() };
  const send = (through = app): Promise<Reply> =>
    on(through).post(path, { key: whose, headers, body: { name: 'ci', scopes: ['me:read'] } });
  const created = (await send()).data as { key_id: string; api_key: string };
  expect((await send()).data).toEqual(created);
  return { created, path, repeat: send, idempotencyKey: headers['idempotency-key'] };
};

const storedAnswer = async (idempotencyKey: string): Promise<string | null | undefined> => {
  const { rows } = await stack.pool.query<{ answer: string | null }>(
    'select answer from access.idempotency where key = $1',
    [idempotencyKey],
  );
  return rows[0]?.answer;
};

attack('a repeated key creation shows no text of a key that was revoked', async () => {
  const key = await stack.key();
  const other = await stack.api();
  let repeats = 0;
  for (let round = 0; round < tries(2); round += 1) {
    const { created, path, repeat, idempotencyKey } = await createKey(key);
    expect((await on(app).delete(`${path}/${created.key_id}`, { key, body: {} })).status).toBe(200);
    for (const reply of await Promise.all([repeat(), repeat(other), repeat(), repeat(other)])) {
      expect([reply.status, reply.error.message]).toEqual([409, expect.stringContaining('revoked')]);
      expect(reply.body).not.toContain(created.api_key);
      repeats += 1;
    }
    expect(await storedAnswer(idempotencyKey)).toBeNull();
  }
  return `${repeats} repeats, 0 key texts`;
});

attack('a text that is shown once is gone within the hour, also when no process ran', async () => {
  const key = await stack.key();
  const { repeat, idempotencyKey } = await createKey(key);
  await stack.pool.query(
    `update access.idempotency set created_at = now() - interval '56 minutes' where key = $1`,
    [idempotencyKey],
  );
  const refused = await repeat();
  expect([refused.status, refused.error.message]).toEqual([409, expect.stringContaining('shown once')]);
  expect(await storedAnswer(idempotencyKey)).not.toBeNull();
  await stack.api();
  await expect.poll(() => storedAnswer(idempotencyKey), { timeout: 60_000 }).toBeNull();
  expect((await repeat()).status).toBe(409);
  return 'refused after 55 minutes, removed by the next start';
});
