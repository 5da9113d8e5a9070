import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import { ObservationsReply } from '#contracts/intake.ts';
import { OBSERVATION_MAX_BYTES, OBSERVATION_TYPES } from '#contracts/observations/index.ts';
import { COLLECTOR_KEY } from '#application/collectors/collector-keys.ts';
import { LIVE_KEY } from '#application/access/key-format.ts';
import { ad } from '#tests/dsl/scans.ts';
import { scanOf } from '../ingest/fixtures/scan-messages.ts';
import {
  AT,
  type IntakeServer,
  NDJSON,
  openIntakeServer,
  profileOf,
  type Reply,
  send,
  sendLines,
  sendPartOf,
} from './stack.ts';

const MEBIBYTE = 1024 * 1024;
const BODY_TIMEOUT_MS = 1_500;
const REFUSED_PER_MINUTE = 60;

let server: IntakeServer;
let key: string;
beforeAll(async () => {
  server = await openIntakeServer({
    bodyTimeoutMs: BODY_TIMEOUT_MS,
    refusedPerMinute: REFUSED_PER_MINUTE,
    trustedProxies: ['127.0.0.1'],
  });
  key = (await server.issue('tests')).text;
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  await server.nats.manager.streams.purge(OBSERVATIONS_STREAM);
});

const resultOf = ({ status, body }: Reply): ObservationsReply => {
  expect(status, JSON.stringify(body)).toBe(200);
  return ObservationsReply.parse(body);
};
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>> = {}) =>
  send(`${server.url}/intake/observations`, body, { key, headers: { 'content-type': NDJSON, ...headers } });
const domainsQueued = async () => (await server.queued()).map(({ observation }) => observation['domain']);
const errorOf = ({ body }: Reply) =>
  (body as { error: { message: string; details?: { path: string; code: string }[] } }).error;

describe('accepted lines', () => {
  test('are in the queue, in their order, with their routing', async () => {
    const domains = Array.from({ length: 200 }, (_, index) => `shop${index}.example`);
    expect(
      resultOf(
        await sendLines(
          server,
          key,
          domains.map((domain) => profileOf(domain)),
        ),
      ),
    ).toEqual({
      accepted: 200,
      refused: [],
    });
    const queued = await server.queued();
    expect(queued.map(({ observation }) => observation['domain'])).toEqual(domains);
    expect(queued[0]).toMatchObject({ subject: 'observations.shop0_example', type: 'brand.profile' });
  });

  test('are queued once when they are sent again', async () => {
    const lines = [profileOf('repeated.example'), profileOf('other.example')];
    for (let round = 0; round < 3; round += 1) {
      expect(resultOf(await sendLines(server, key, lines)).accepted).toBe(2);
    }
    expect(await domainsQueued()).toEqual(['repeated.example', 'other.example']);
  });

  test('are queued although others are refused, and the reply names those by line, path and code', async () => {
    const scan = scanOf('scanned.example', AT, [ad('31')]).end;
    const { accepted, refused } = resultOf(
      await sendLines(server, key, [
        profileOf('first.example'),
        '',
        '{"type": ',
        '[]',
        'null',
        { type: 'unknown.type' },
        { ...profileOf('money.example'), spend: 12 },
        { ...profileOf('late.example'), observed_at: '2999-01-01T00:00:00.000Z' },
        scan,
        { ...scan, coverage: { ...scan.coverage, collector: 'tests/2' } },
        profileOf('last.example'),
        `{"a":"${'x'.repeat(OBSERVATION_MAX_BYTES)}"}`,
        '['.repeat(50_000),
      ]),
    );
    expect(accepted).toBe(3);
    expect(refused.map(({ line, path, code }) => [line, path, code])).toEqual([
      [3, '', 'not_json'],
      [4, '', 'invalid_type'],
      [5, '', 'invalid_type'],
      [6, 'type', 'invalid_union'],
      [7, '', 'unrecognized_keys'],
      [8, 'observed_at', 'out_of_range'],
      [9, 'coverage.collector', 'collector_name'],
      [12, '', 'too_large'],
      [13, '', 'not_json'],
    ]);
    expect((await server.queued()).length).toBe(3);
  });

  test('may have long keys and line breaks in them', async () => {
    const name = `${'å\r\n '.repeat(30_000)}b`;
    const category = {
      type: 'category.define',
      observed_at: AT,
      path: [name],
      level: null,
      taxonomy: null,
      taxonomy_id: null,
      description: null,
    };
    expect(resultOf(await sendLines(server, key, [category, profileOf('after.example')]))).toMatchObject({
      accepted: 2,
    });
  });

  test('may be packed, with a byte order mark, and end with a line break', async () => {
    const text = `\uFEFF${JSON.stringify(profileOf('packed.example'))}\r\n\n`;
    for (const encoding of ['gzip', 'X-GZIP']) {
      const reply = await post(new Uint8Array(gzipSync(text)), { 'content-encoding': encoding });
      expect(resultOf(reply)).toEqual({ accepted: 1, refused: [] });
    }
    expect(await domainsQueued()).toEqual(['packed.example']);
  });
});

describe('a request that is refused as a whole queues nothing', () => {
  const line = JSON.stringify(profileOf('whole.example'));
  const bomb = new Uint8Array(gzipSync(Buffer.alloc(200 * MEBIBYTE, 0x20), { level: 9 }));
  const packed = new Uint8Array(gzipSync(line));

  test.each<[string, number, string | Uint8Array<ArrayBuffer>, Record<string, string>]>([
    ['an empty body', 400, '', {}],
    ['blank lines', 400, '\n \r\n\t\n', {}],
    ['gzip that is none', 400, line, { 'content-encoding': 'gzip' }],
    ['gzip that ends early', 400, packed.slice(0, -12), { 'content-encoding': 'gzip' }],
    ['1,001 lines', 413, `${line}\n`.repeat(1_001), {}],
    ['more than 16 MiB', 413, ' '.repeat(16 * MEBIBYTE + 1), {}],
    ['a gzip bomb', 413, bomb, { 'content-encoding': 'gzip' }],
    ['another content type', 415, line, { 'content-type': 'application/json' }],
    ['a malformed content type', 415, line, { 'content-type': 'x-ndjson' }],
    ['another charset', 415, line, { 'content-type': `${NDJSON}; charset=utf-16` }],
    ['another encoding', 415, line, { 'content-encoding': 'br' }],
    ['two encodings', 415, line, { 'content-encoding': 'gzip, gzip' }],
  ])('%s is %i', async (_name, status, body, headers) => {
    const reply = await post(body, headers);
    expect(reply.status).toBe(status);
    expect(errorOf(reply).message).not.toBe('');
    expect(await domainsQueued()).toEqual([]);
  });

  test('a body of unknown length over the limit is 413', async () => {
    const chunk = new Uint8Array(MEBIBYTE).fill(0x20);
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1;
        if (sent > 20) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const reply = await fetch(`${server.url}/intake/observations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': NDJSON },
      body,
      duplex: 'half',
    });
    expect(reply.status).toBe(413);
    await reply.body?.cancel();
  });

  test('a slow body is 400, and the other slots of the key stay free', async () => {
    const slow = sendPartOf(`${server.url}/intake/observations`, key, line);
    expect(resultOf(await sendLines(server, key, [profileOf('meanwhile.example')])).accepted).toBe(1);
    const { status, body } = await slow;
    expect([status, body]).toEqual([400, expect.stringContaining('body_too_slow')]);
    expect(await domainsQueued()).toEqual(['meanwhile.example']);
  });

  test.each([
    ['without a key', '/intake/observations', {}],
    ['with an invented key', '/intake/observations', { key: COLLECTOR_KEY.create() }],
    ['to unknown paths', '/intake/unknown', {}],
  ])('requests %s meet a limit by address, which holds up no valid key', async (kind, path, sending) => {
    const headers = { 'x-forwarded-for': `198.51.100.${kind.length}`, 'content-type': NDJSON };
    const request = () => send(`${server.url}${path}`, '', { ...sending, headers });
    // The key is accepted, and the empty body is not.
    const sendWithKey = () => send(`${server.url}/intake/observations`, '', { key, headers });
    expect((await sendWithKey()).status).toBe(400);
    const statuses: number[] = [];
    // A minute may end meanwhile, and begins another count.
    while (statuses.at(-1) !== 429 && statuses.length <= 2 * REFUSED_PER_MINUTE)
      statuses.push((await request()).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.length).toBeGreaterThan(REFUSED_PER_MINUTE);
    expect(Number((await request()).headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await sendWithKey()).status).toBe(400);
  });

  test('a fifth request of a key at once is 429 with retry-after', async () => {
    const slow = Array.from({ length: 4 }, () => sendPartOf(`${server.url}/intake/observations`, key, line));
    // A fifth request is refused as soon as the server has the heads of the others.
    await expect
      .poll(async () => (await sendLines(server, key, [])).status, { timeout: BODY_TIMEOUT_MS })
      .toBe(429);
    for (const { status } of await Promise.all(slow)) expect(status).toBe(400);
    expect(resultOf(await sendLines(server, key, [profileOf('after.example')])).accepted).toBe(1);
  });

  test('a type that is not granted is 403 and names its lines', async () => {
    const limited = await server.issue('tests', ['brand.profile', 'site.scan']);
    const chunk = scanOf('granted.example', AT, [ad('31')]).chunks[0];
    const reply = await sendLines(server, limited.text, [profileOf('granted.example'), '', chunk, chunk]);
    expect(reply.status).toBe(403);
    expect(errorOf(reply).details?.map(({ path, code }) => [path, code])).toEqual([
      ['lines.3.type', 'type_not_granted'],
      ['lines.4.type', 'type_not_granted'],
    ]);
    expect(await domainsQueued()).toEqual([]);
  });

  test.each([
    ['no key', undefined],
    ['an API key', LIVE_KEY.create()],
    ['a key that nobody issued', COLLECTOR_KEY.create()],
    ['a mistyped key', 'svc_collect_000000000000000000000000000000000000'],
  ])('%s is 401', async (_name, used) => {
    const reply = await send(`${server.url}/intake/observations`, line, {
      ...(used === undefined ? {} : { key: used }),
      headers: { 'content-type': NDJSON },
    });
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await domainsQueued()).toEqual([]);
  });

  test('a full queue is 503 with retry-after, and the lines are taken when it has room again', async () => {
    const { config } = await server.nats.manager.streams.info(OBSERVATIONS_STREAM);
    await server.nats.manager.streams.update(OBSERVATIONS_STREAM, { ...config, max_bytes: 2_000 });
    const lines = Array.from({ length: 20 }, (_, index) => profileOf(`full${index}.example`));
    const reply = await sendLines(server, key, lines);
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '60']);
    await server.nats.manager.streams.update(OBSERVATIONS_STREAM, config);
    expect(resultOf(await sendLines(server, key, lines)).accepted).toBe(20);
    expect(new Set(await domainsQueued()).size).toBe(20);
    expect((await server.queued()).length).toBe(20);
  });
});

describe('other paths', () => {
  test.each([
    ['GET', '/intake/observations'],
    ['POST', '/intake/other'],
    ['GET', '/intake/schemas/other'],
    ['PUT', '/'],
  ])('%s %s is 404', async (method, path) => {
    const body = method === 'GET' ? null : 'x';
    expect((await send(`${server.url}${path}`, body, { key, method })).status).toBe(404);
  });

  test('list the schema of every type, without a key', async () => {
    const { body } = await send(`${server.url}/intake/schemas`, null, { method: 'GET' });
    expect(body).toEqual({ types: OBSERVATION_TYPES });
    const schema = await send(`${server.url}/intake/schemas/ad_library.scan_end`, null, { method: 'GET' });
    expect(schema.body).toMatchObject({ $id: 'urn:ad-intelligence:observation:ad_library.scan_end' });
  });
});
