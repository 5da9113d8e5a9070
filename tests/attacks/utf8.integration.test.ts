import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { headers as natsHeaders } from 'nats';
import { isUtf8 } from 'node:buffer';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { textOfUtf8 } from '#platform/http/utf8.ts';
import { silentLog } from '#platform/logger.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { readObservationMessage } from '#services/ingest/queue/observation-message.ts';
import { buildOps } from '#services/ops/http/server.ts';
import { type ApiStack, type Key, openApiStack, VAULT_KEY } from '../operations/fixtures/stack.ts';
import { startProcess } from '../stack/processes.ts';
import { attack, tries } from './attack.ts';

/** Bytes that are not UTF-8: overlong forms, halves of pairs, cut sequences, bytes that never occur. */
const INVALID = [
  [0xff],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xe2, 0x82],
  [0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
];
const wrapped = fc
  .tuple(fc.string(), fc.constantFrom(...INVALID), fc.string())
  .map(([before, bytes, after]) =>
    Buffer.concat([Buffer.from(JSON.stringify(before)), Buffer.from(bytes), Buffer.from(after)]),
  )
  .filter((bytes) => !isUtf8(bytes));

attack('observations that are not valid UTF-8 are refused and never read altered', () => {
  let messages = 0;
  const inText = (bytes: readonly number[]): Buffer =>
    Buffer.concat([Buffer.from('{"type":"site.scan","name":"'), Buffer.from(bytes), Buffer.from('"}')]);
  const read = (data: Buffer): unknown =>
    readObservationMessage({ subject: 'observations.x', data, headers: natsHeaders() }).observation();
  for (const bytes of INVALID) {
    expect(() => read(inText(bytes))).toThrow('not valid UTF-8');
    messages += 1;
  }
  fc.assert(
    fc.property(wrapped, (bytes) => {
      expect(textOfUtf8(bytes)).toBeNull();
      messages += 1;
    }),
    { numRuns: tries(100) },
  );
  expect(read(inText([...Buffer.from('Größe 😀')]))).toMatchObject({ name: 'Größe 😀' });
  return `${messages} texts refused`;
});

const MCP_MAIN = join(import.meta.dirname, '../../services/mcp/main.ts');
const OPS_TOKEN = 'the token of the operators';

const resources = new AsyncDisposableStack();
let stack: ApiStack;
let key: Key;
beforeAll(async () => {
  stack = resources.use(await openApiStack());
  key = await stack.key();
});
afterAll(() => resources.disposeAsync());

type Request = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
};

const send = (port: number, { method, path, headers = {}, body }: Request): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', method, path, headers: { ...headers, connection: 'close' } },
      (reply) => {
        reply.resume();
        reply.on('end', () => resolve(reply.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });

const escaped = (bytes: readonly number[]): string =>
  bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

type Target = Request & {
  /** Start and end of the body around the bytes. */
  readonly around?: readonly [string, string];
  /** Parameter that takes any text; `x` when absent, which some endpoints refuse. */
  readonly parameter?: string;
  /** True for a form, in which bytes may be percent-encoded. */
  readonly isForm?: boolean;
};

/** Sends each byte sequence, which must be refused with 400, unlike valid characters in its place. */
const attackWith = async (port: number, target: Target): Promise<number> => {
  const { around, headers = {}, path, parameter = 'x' } = target;
  const bodyOf = (bytes: Buffer): { readonly body?: Buffer } =>
    around ? { body: Buffer.concat([Buffer.from(around[0]), bytes, Buffer.from(around[1])]) } : {};
  const valid = { ...target, ...bodyOf(Buffer.from('Größe 😀')) };
  const status = await send(port, {
    ...valid,
    path: `${path}?${parameter}=shoes%F0%9F%98%80`,
    headers: { ...headers, 'x-name': Buffer.from('Größe').toString('latin1') },
  });
  const isValid = (code: number): boolean => code !== 400 && code < 500;
  // Some endpoints take no parameter `x`.
  if (!isValid(status)) expect(await send(port, valid), path).toSatisfy(isValid);
  let refused = 0;
  for (const bytes of INVALID) {
    const raw = Buffer.from(bytes);
    const requests: Request[] = [
      { ...valid, path: `${path}?${parameter}=a${escaped(bytes)}` },
      { ...valid, headers: { ...headers, 'x-name': raw.toString('latin1') } },
      ...(around ? [{ ...target, ...bodyOf(raw) }] : []),
      ...(target.isForm ? [{ ...target, ...bodyOf(Buffer.from(escaped(bytes))) }] : []),
    ];
    for (const one of requests) {
      expect(await send(port, one), `${path} ${JSON.stringify(one)}`).toBe(400);
      refused += 1;
    }
  }
  return refused;
};

const listen = async (app: FastifyInstance): Promise<number> => {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
};

const JSON_TYPE = { 'content-type': 'application/json' };

attack('the API refuses bodies, headers and addresses that are not valid UTF-8', async () => {
  const port = await listen(await stack.api());
  const headers = { authorization: `Bearer ${key.text}` };
  const notes = `/v1/workspaces/${key.workspaceId}/collections`;
  const refused = [
    await attackWith(port, { method: 'GET', path: '/v1/ads', parameter: 'q', headers }),
    await attackWith(port, {
      method: 'POST',
      path: notes,
      headers: { ...headers, ...JSON_TYPE },
      around: ['{"name":"a', '"}'],
    }),
  ];
  return `${refused.reduce((sum, one) => sum + one)} requests refused`;
});

attack('the operator server refuses bodies, headers and addresses that are not valid UTF-8', async () => {
  const db = resources.use(openReadDatabase(stack.environment['DATABASE_URL'] ?? ''));
  const app = buildOps({
    db,
    pool: stack.pool,
    eventStore: stack.eventStore,
    nats: () => stack.nats,
    serverChecks: {},
    archiveCallsPerHour: 150,
    memberVault: null,
    auditSigningKey: null,
    token: OPS_TOKEN,
    log: silentLog(),
  });
  resources.defer(() => app.close());
  const port = await listen(app);
  const headers = { authorization: `Bearer ${OPS_TOKEN}` };
  const refused = [
    await attackWith(port, { method: 'GET', path: '/ops/projections', headers }),
    await attackWith(port, {
      method: 'POST',
      path: '/ops/parked/skip',
      headers: { ...headers, ...JSON_TYPE },
      around: ['{"projection":"brands","stream":"a', '"}'],
    }),
  ];
  return `${refused.reduce((sum, one) => sum + one)} requests refused`;
});

attack('the MCP server refuses bodies, headers, addresses and forms that are not valid UTF-8', async () => {
  const port = await freePort();
  const server = startProcess(MCP_MAIN, {
    ...stack.environment,
    MCP_PORT: String(port),
    MCP_BASE_URL: `http://127.0.0.1:${port}`,
    MCP_SECRET: 'a secret of 32 characters for tests',
    CURSOR_SECRET: 'a secret for tests only',
    MEMBER_VAULT_KEY: VAULT_KEY,
  });
  resources.defer(async () => void (await server.stop()));
  await server.says('listening');
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const targets: readonly Target[] = [
    { method: 'POST', path: '/mcp', headers: JSON_TYPE, around: ['{"a":"', '"}'] },
    { method: 'GET', path: '/.well-known/oauth-authorization-server' },
    { method: 'GET', path: '/oauth/jwks' },
    { method: 'GET', path: '/account' },
    { method: 'POST', path: '/account/address', headers: form, around: ['email=', ''], isForm: true },
  ];
  let refused = 0;
  for (const target of targets) refused += await attackWith(port, target);
  return `${refused} requests refused`;
});
