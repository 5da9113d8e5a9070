import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#platform/logger.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { projections } from '#projections/index.ts';
import { runProjections } from '#services/projector/run.ts';
import { type RunningService, SERVICE_SECRETS, type ServiceServers, startService } from '../stack/service.ts';
import { until } from '../stack/wait-until.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';

const SHORT_MS = 200;
const WAIT_MS = 60_000;
const SECOND_TOKEN = 'another operator token of tests';

let stack: ApiStack;
let key: Key;
let api: FastifyInstance;
let service: RunningService;
beforeAll(async () => {
  stack = await openApiStack();
  key = await stack.key();
  await stack.seed(['alpha']);
  api = await stack.api();
  await api.listen({ host: '127.0.0.1', port: 0 });
  service = await startService(
    stack.environment as unknown as ServiceServers,
    { OPS_TOKEN: `${SERVICE_SECRETS.OPS_TOKEN},${SECOND_TOKEN}` },
    ['api', 'ops'],
  );
  await service.ready();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const exchange = async (url: string, bytes: string): Promise<string> => {
  const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.write(bytes);
  await once(socket, 'close');
  return text;
};

describe.each([
  ['the API', () => service.apiUrl, () => key.text],
  ["operators' HTTP", () => service.opsUrl, () => SERVICE_SECRETS.OPS_TOKEN],
])('%s', (_name, url, token) => {
  test('rejects request headers above the size limit', async () => {
    const reply = await exchange(
      url(),
      `GET /v1/me HTTP/1.1\r\nhost: a\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`,
    );
    expect(reply).toMatch(/^HTTP\/1.1 4\d\d /);
  });

  test('rejects a body above the size limit', async () => {
    const reply = await fetch(`${url()}/v1/workspaces/${key.workspaceId}/notes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ body: 'a'.repeat(100_000) }),
    });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
  });
});

test('the API closes a connection when its headers do not arrive in time', async () => {
  const { server } = api;
  const { port } = server.address() as AddressInfo;
  expect(server.headersTimeout).toBeLessThanOrEqual(10_000);
  expect(server.requestTimeout).toBeLessThanOrEqual(30_000);
  server.headersTimeout = SHORT_MS;
  const reply = await exchange(`http://127.0.0.1:${port}`, 'GET / HTTP/1.1\r\nhost: a\r\n');
  expect(reply).toMatch(/^HTTP\/1.1 4\d\d |^$/);
});

test('the operator API accepts both tokens during a token rotation', async () => {
  const url = `${service.opsUrl}/ops/workspaces/${key.workspaceId}/history`;
  const statusOf = async (token: string): Promise<number> =>
    (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await statusOf(SERVICE_SECRETS.OPS_TOKEN)).toBe(200);
  expect(await statusOf(SECOND_TOKEN)).toBe(200);
  expect(await statusOf(`${SECOND_TOKEN}.`)).toBe(401);
});

describe('the role for reads', () => {
  const reader = (): ReturnType<typeof openReadDatabase> => {
    const url = new URL(stack.environment['DATABASE_URL'] ?? '');
    [url.username, url.password] = ['reader_of_tests', 'reader_of_tests'];
    return openReadDatabase(url.href);
  };
  const BRANDS = { sql: 'select count(*)::int as count from brands.brand', values: [] };

  test('reads read models, and can neither write nor read the vault', async () => {
    await using db = reader();
    expect(await db.query(BRANDS)).toEqual([{ count: 1 }]);
    const refused = ['42501', '25006'];
    for (const sql of [
      'delete from brands.brand',
      'create table public.mine (a int)',
      'select * from vault.member_key',
      'select * from vault.secret',
      'select * from ingest.brand',
      'set role postgres',
    ]) {
      const failure = await db.slow({ sql, values: [] }).catch((error: unknown) => error);
      expect(refused, sql).toContain((failure as { code?: string }).code);
    }
  });

  test('reads a read model after a rebuild was swapped in', async () => {
    await stack.stopProjector();
    const ending = new AbortController();
    const running = runProjections({
      databaseUrl: stack.environment['DATABASE_URL'] ?? '',
      eventStoreUrl: stack.environment['EVENT_STORE_URL'] ?? '',
      projections: projections.map((one) =>
        one.name === 'brands' ? { ...one, version: one.version + 1_000 } : one,
      ),
      log: silentLog(),
      signal: ending.signal,
    });
    try {
      await until('the new version is swapped in', WAIT_MS, async () => {
        const { rows } = await stack.pool.query<{ version: number }>(
          `select version from projector.projection where name = 'brands'`,
        );
        return (rows[0]?.version ?? 0) > 1_000;
      });
      await using db = reader();
      expect(await db.query(BRANDS)).toEqual([{ count: 1 }]);
    } finally {
      ending.abort();
      await running;
    }
  });
});

test('the API finishes a request in flight on a keep-alive connection when it gets SIGTERM', async () => {
  const running = service.processes.get('api');
  const body = JSON.stringify({ subject_type: 'ad', subject_key: '100000000000001', body: 'Look again.' });
  const socket = connect(Number(new URL(service.apiUrl).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.write(
    `POST /v1/workspaces/${key.workspaceId}/notes HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n` +
      `authorization: Bearer ${key.text}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  await until('the request is being served', WAIT_MS, () => text.includes('100 Continue'));
  const gone = once(running?.child ?? socket, 'exit');
  running?.child.kill('SIGTERM');
  await running?.says('shutdown started');
  const closed = once(socket, 'close');
  socket.write(body);
  await closed;
  expect(text).toContain('HTTP/1.1 201 Created');
  expect((await gone)[0]).toBe(0);
  expect(service.output()).not.toContain('shutdown deadline passed');
});

/** Time in which `@fastify/under-pressure` takes a sample: it does so each second. */
const SAMPLED_MS = 2_500;
const BUSY_MS = 50;

test('while the event loop is late, reads are refused with a time, and commands and revocations are not', async () => {
  const late = await stack.api({ loopDelayMs: 1 });
  const lateUntil = performance.now() + SAMPLED_MS;
  while (performance.now() < lateUntil) {
    const busyUntil = performance.now() + BUSY_MS;
    while (performance.now() < busyUntil);
    await new Promise(setImmediate);
  }
  const headers = { authorization: `Bearer ${key.text}` };
  const read = await late.inject({ url: '/v1/me', headers });
  expect([read.statusCode, read.headers['retry-after']]).toEqual([503, '3']);
  const url = `/v1/workspaces/${key.workspaceId}`;
  const body = { name: 'ci', scopes: ['me:read'] };
  const created = await late.inject({ method: 'POST', url: `${url}/api-keys`, headers, payload: body });
  expect(created.statusCode).toBe(201);
  const { key_id } = created.json<{ data: { key_id: string } }>().data;
  const revoked = await late.inject({
    method: 'DELETE',
    url: `${url}/api-keys/${key_id}`,
    headers,
    payload: {},
  });
  expect(revoked.json()).toMatchObject({ data: { removed: true } });
});
