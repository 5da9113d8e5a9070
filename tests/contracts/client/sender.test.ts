import { describe, expect, test } from 'vitest';
import { ApiError, createClient } from '#contracts/client/client.ts';

type Sent = {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
};
type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown };

/** The last answer repeats. */
const clientOf = (answers: readonly Answer[], options: object = {}) => {
  const sent: Sent[] = [];
  const client = createClient({
    baseUrl: 'https://api.test',
    apiKey: 'svc_live_test',
    fetch: async (request) => {
      const { method, url, headers } = request;
      sent.push({ method, url, headers, body: await request.text() });
      const {
        status,
        headers: answered,
        body = {},
      } = answers[sent.length - 1] ?? answers.at(-1) ?? { status: 500 };
      return Response.json(body, { status, ...(answered ? { headers: answered } : {}) });
    },
    ...options,
  });
  return { client, sent };
};

const NOW = { 'retry-after': '0' };
const BUSY: Answer = {
  status: 503,
  headers: NOW,
  body: { error: { type: 'unavailable', message: 'Busy.', status: 503, request_id: 'r' } },
};
const LIMITED: Answer = { ...BUSY, status: 429 };
const DONE: Answer = { status: 200, body: { data: [], meta: { count: 0 } } };

const path = { ws: 'ws_1', collectionId: 'c' };
const WRITES = {
  post: ({ client }: ReturnType<typeof clientOf>) =>
    client.POST('/v1/workspaces/{ws}/collections', { params: { path }, body: { name: 'Launches' } }),
  patch: ({ client }: ReturnType<typeof clientOf>) =>
    client.PATCH('/v1/workspaces/{ws}/collections/{collectionId}', {
      params: { path },
      body: { name: 'New' },
    }),
  delete: ({ client }: ReturnType<typeof clientOf>) =>
    client.DELETE('/v1/workspaces/{ws}/collections/{collectionId}', { params: { path }, body: {} }),
};

describe('a request', () => {
  test('carries the key, and lists as one value with commas', async () => {
    const { client, sent } = clientOf([DONE]);
    await client.GET('/v1/brand-thumbs', { params: { query: { brand_ids: ['a', 'b'] } } });
    expect(sent[0]?.url).toBe('https://api.test/v1/brand-thumbs?brand_ids=a,b');
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer svc_live_test');
    expect([...(sent[0]?.headers.keys() ?? [])]).not.toContain('idempotency-key');
  });

  test('is sent again after 429 and 503, until it succeeds', async () => {
    const { client, sent } = clientOf([BUSY, LIMITED, DONE]);
    const { data } = await client.GET('/v1/brands');
    expect([data?.data, sent.length]).toEqual([[], 3]);
  });

  test('that creates something keeps its key and its body in each attempt, and the next has another key', async () => {
    const calls = clientOf([BUSY, DONE]);
    await WRITES.post(calls);
    await WRITES.post(calls);
    const [first, again, next] = calls.sent.map(({ headers }) => headers.get('idempotency-key'));
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect([again === first, next === first]).toEqual([true, false]);
    expect(calls.sent.map(({ body }) => body)).toEqual(
      Array.from({ length: 3 }, () => '{"name":"Launches"}'),
    );
  });

  test('keeps an idempotency key of its caller', async () => {
    const { client, sent } = clientOf([DONE]);
    const params = { path, header: { 'idempotency-key': 'mine' } };
    await client.POST('/v1/workspaces/{ws}/collections', { params, body: { name: 'Launches' } });
    expect(sent[0]?.headers.get('idempotency-key')).toBe('mine');
  });

  test('that changes something is repeated after 429, which did nothing, and not after 503', async () => {
    const [limited, busy, removal] = [
      clientOf([LIMITED, DONE]),
      clientOf([BUSY, DONE]),
      clientOf([BUSY, DONE]),
    ];
    expect((await WRITES.patch(limited)).response.status).toBe(200);
    expect((await WRITES.patch(busy)).response.status).toBe(503);
    expect((await WRITES.delete(removal)).response.status).toBe(200);
  });

  test.each([
    ['its repetitions are used up', [BUSY], { retries: 2 }, 3],
    ['it may not be repeated', [BUSY], { retries: 0 }, 1],
    ['the reply names no time', [{ status: 503 }], {}, 1],
    ['the named time is too far away', [{ ...BUSY, headers: { 'retry-after': '3600' } }], {}, 1],
    [
      'the named date is too far away',
      [{ ...BUSY, headers: { 'retry-after': 'Fri, 31 Dec 2999 23:59:59 GMT' } }],
      {},
      1,
    ],
    ['the fault is its own', [{ status: 400, headers: NOW }], {}, 1],
  ] as const)('returns the fault when %s', async (_name, answers, options, attempts) => {
    const { client, sent } = clientOf(answers, options);
    const { error, data } = await client.GET('/v1/brands');
    expect([error === undefined, data, sent.length]).toEqual([false, undefined, attempts]);
  });

  test('is sent again at once when the named date has passed', async () => {
    const past = { ...BUSY, headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:00 GMT' } };
    expect((await clientOf([past, DONE]).client.GET('/v1/brands')).response.status).toBe(200);
  });

  test('ends with the signal of its caller, also while it waits', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const { client } = clientOf([{ ...BUSY, headers: { 'retry-after': '60' } }]);
    const call = client.GET('/v1/brands', { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 20);
    await expect(call).rejects.toBe(reason);
  });

  test('ends with its timeout when no reply comes', async () => {
    const never = ({ signal }: Request): Promise<Response> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const { client } = clientOf([], { fetch: never, timeoutMs: 20 });
    await expect(client.GET('/v1/brands')).rejects.toThrow(/timeout/);
  });
});

describe('a position', () => {
  const at = (position: string): Answer => ({ ...DONE, headers: { 'x-read-position': position } });

  test('is the greatest so far, and is carried by reads only', async () => {
    const calls = clientOf([at('9'), at('10'), at('8'), DONE]);
    await calls.client.GET('/v1/brands');
    await WRITES.post(calls);
    await calls.client.GET('/v1/brands');
    await calls.client.GET('/v1/brands');
    expect(calls.sent.map(({ headers }) => headers.get('min-position'))).toEqual([null, null, '10', '10']);
    expect(calls.client.position()).toBe('10');
  });

  test('begins where another client stands, and does not replace that of a caller', async () => {
    const { client, sent } = clientOf([DONE], { minPosition: '7' });
    await client.GET('/v1/brands');
    await client.GET('/v1/brands', { params: { header: { 'min-position': '3' } } });
    expect(sent.map(({ headers }) => headers.get('min-position'))).toEqual(['7', '3']);
  });
});

describe('pages', () => {
  const page = (names: readonly string[], cursor?: string): Answer => ({
    status: 200,
    body: { data: names, meta: { count: names.length, ...(cursor === undefined ? {} : { cursor }) } },
  });

  test('follow the cursor with the same parameters until it is absent', async () => {
    const { client, sent } = clientOf([page(['a', 'b'], 'next'), page([], 'last'), page(['c'])]);
    const found: unknown[] = [];
    for await (const item of client.items('/v1/brands', { params: { query: { q: 'x' } } })) found.push(item);
    expect(found).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ url }) => new URL(url).search)).toEqual([
      '?q=x',
      '?q=x&cursor=next',
      '?q=x&cursor=last',
    ]);
  });

  test('are fetched only as far as they are read', async () => {
    const { client, sent } = clientOf([page(['a', 'b'], 'next')]);
    for await (const _ of client.items('/v1/brands')) break;
    expect(sent.length).toBe(1);
  });

  test('end with an error that has the status and the text of the reply', async () => {
    const fault = { type: 'not_found', message: 'No such workspace.', status: 404, request_id: 'r' };
    const { client } = clientOf([{ status: 404, body: { error: fault } }]);
    const error: unknown = await client
      .pages('/v1/workspaces/{ws}/notes', { params: { path: { ws: 'ws_2' } } })
      .next()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 404, message: 'No such workspace.', body: fault });
  });

  test('are typed by the document', () => {
    const { client } = clientOf([DONE]);
    // `tsc` checks it: a call that it accepts makes the comment above it a fault.
    void [
      // @ts-expect-error: the path needs a workspace.
      () => client.pages('/v1/workspaces/{ws}/notes'),
      // @ts-expect-error: the breakdown has one page.
      () => client.pages('/v1/brands/{brandId}/breakdown', { params: { path: { brandId: 'a' } } }),
      // @ts-expect-error: `sort` has three values.
      () => client.items('/v1/brands', { params: { query: { sort: 'spend' } } }),
      // @ts-expect-error: a body is required.
      () => client.POST('/v1/workspaces/{ws}/collections', { params: { path } }),
      async () => {
        const { data } = await client.GET('/v1/brands/{brandId}', { params: { path: { brandId: 'a' } } });
        // @ts-expect-error: no money figures are held.
        return data?.data.spend;
      },
    ];
  });
});
