import type { FastifyInstance } from 'fastify';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { LIVE_KEY } from '#application/access/key-format.ts';
import { createRequestCounts, type RequestCounts } from '#application/access/request-counts.ts';
import { PLANS } from '#contracts/values/access.ts';
import { openNats } from '#platform/nats/connection.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { attack, tries } from '../attack.ts';

/** The minute stands still, so that no attack runs over its end. */
const clock = { now: () => new Date('2026-11-20T12:00:30.000Z') };
const LIMIT = PLANS.free.requestsPerMinute;
const REFUSED_PER_MINUTE = 50;

let stack: ApiStack;
let app: FastifyInstance;
beforeAll(async () => {
  stack = await openApiStack();
  [app] = await Promise.all([
    stack.api({ clock, refusedPerMinute: REFUSED_PER_MINUTE }),
    stack.seed(['alpha']),
  ]);
});
afterAll(() => stack[Symbol.asyncDispose]());

const get = (key: Key | null, headers: Readonly<Record<string, string>> = {}, address = '192.0.2.1') =>
  app.inject({
    url: '/v1/brands/alpha',
    remoteAddress: address,
    headers: { ...(key ? { authorization: `Bearer ${key.text}` } : {}), ...headers },
  });

const answered = async (send: () => Promise<{ statusCode: number }>, most: number): Promise<number> => {
  for (let count = 0; count < most; count += 1) if ((await send()).statusCode === 429) return count;
  return most;
};

attack('if-none-match: * counts as any request', async () => {
  const key = await stack.key({ plan: 'free' });
  const count = await answered(() => get(key, { 'if-none-match': '*' }), 3 * LIMIT);
  expect(count).toBe(LIMIT);
  return `${count} answered of ${LIMIT}`;
});

attack('an ETag of another workspace is no way around the limit', async () => {
  const [key, stranger] = await Promise.all([stack.key({ plan: 'free' }), stack.key()]);
  const etag = String((await get(stranger)).headers['etag']);
  expect((await get(stranger, { 'if-none-match': etag })).statusCode).toBe(304);
  const count = await answered(() => get(key, { 'if-none-match': etag }), 3 * LIMIT);
  expect(count).toBe(LIMIT);
  return `${count} answered of ${LIMIT}`;
});

attack('a 304 counts as any answer', async () => {
  const key = await stack.key({ plan: 'free' });
  const etag = String((await get(key)).headers['etag']);
  const count = await answered(() => get(key, { 'if-none-match': etag }), 3 * LIMIT);
  expect(count).toBe(LIMIT - 1);
  return `${count + 1} answered of ${LIMIT}`;
});

attack('the keys of a workspace share the limit of its plan', async () => {
  const first = await stack.key({ plan: 'free' });
  const created = await app.inject({
    method: 'POST',
    url: `/v1/workspaces/${first.workspaceId}/api-keys`,
    headers: { authorization: `Bearer ${first.text}`, 'content-type': 'application/json' },
    payload: { name: 'second', scopes: ['brands:read'] },
  });
  const { data } = created.json<{ data: { api_key: string } }>();
  const keys = [first, { ...first, text: data.api_key }];
  let turn = 0;
  const count = await answered(() => get(keys[(turn += 1) % 2] ?? first), 3 * LIMIT);
  expect(count).toBe(LIMIT - 1);
  return `${count + 1} requests by 2 keys, limit ${LIMIT}`;
});

attack('requests without a valid key meet a limit by address, and hold up no valid key', async () => {
  const [valid, revoked] = await Promise.all([stack.key(), stack.key()]);
  await Promise.all([get(valid), get(revoked)]);
  await stack.revoke(revoked);
  const keys = [null, { ...revoked, text: 'svc_live_malformed' }, revoked];
  const kinds = ['keyless', 'malformed', 'revoked', 'invented'];
  const figures: string[] = [];
  for (const [place, kind] of kinds.entries()) {
    const address = `198.51.100.${place}`;
    const count = await answered(
      () =>
        get(kind === 'invented' ? { ...valid, text: LIVE_KEY.create() } : (keys[place] ?? null), {}, address),
      tries(100) + REFUSED_PER_MINUTE,
    );
    figures.push(`${count} ${kind}`);
    expect(count).toBe(REFUSED_PER_MINUTE);
    const refused = await get(null, {}, address);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '30']);
    expect((await get(valid, {}, address)).statusCode).toBe(200);
  }
  expect((await get(null)).statusCode).toBe(401);
  return `${figures.join(', ')} of ${REFUSED_PER_MINUTE}`;
});

attack('unknown paths without a key meet the limit by address, and hold up no valid key', async () => {
  const valid = await stack.key();
  await get(valid);
  const address = '198.51.100.20';
  const unknown = (key: Key | null) =>
    app.inject({
      url: '/v1/unknown',
      remoteAddress: address,
      headers: key ? { authorization: `Bearer ${key.text}` } : {},
    });
  const count = await answered(() => unknown(null), tries(100) + REFUSED_PER_MINUTE);
  expect(count).toBe(REFUSED_PER_MINUTE);
  const refused = await unknown(null);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '30']);
  expect((await get(null, {}, address)).statusCode).toBe(429);
  expect((await unknown(valid)).statusCode).toBe(404);
  return `${count} of ${REFUSED_PER_MINUTE}`;
});

attack('four processes together allow a tenth more than the limit at most', async () => {
  await using resources = new AsyncDisposableStack();
  const group = randomUUID();
  const limit = PLANS.business.requestsPerMinute;
  const processes = await Promise.all(
    Array.from({ length: 4 }, async (_, place) => {
      const { connection } = resources.use(await openNats(inject('natsUrl'), `limits-${place}`));
      const counts = resources.use(createRequestCounts(clock));
      counts.share(connection, group);
      await connection.flush();
      return counts;
    }),
  );
  const name = `workspace of attack ${process.pid} ${performance.now()}`;
  /** Takes a request as the API does, after the others were heard. */
  const take = async (counts: RequestCounts): Promise<boolean> => {
    for (let hearing = counts.hearing(name, limit); hearing; hearing = counts.hearing(name, limit))
      await hearing;
    return counts.take(name, limit).allowed;
  };
  const taken = await Promise.all(
    processes.flatMap((counts) => Array.from({ length: limit }, () => take(counts))),
  );
  const allowed = taken.filter(Boolean).length;
  expect(allowed).toBeGreaterThanOrEqual(limit);
  expect(allowed).toBeLessThanOrEqual(1.1 * limit);
  return `${allowed} allowed of ${limit} (${(allowed / limit).toFixed(3)} ×)`;
});
