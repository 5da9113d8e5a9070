import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '#deploy/local/os/ports.ts';
import { PLANS } from '#contracts/values/access.ts';
import { pause } from '#platform/clock.ts';
import { inheritedEnvironment } from '#platform/settings.ts';
import { type ApiStack, type Key, openApiStack } from '../operations/fixtures/stack.ts';
import type { CorpusBrand } from '../operations/fixtures/corpus.ts';
import { startProcess } from '../stack/processes.ts';

/** Clients of two API processes on one database, as in production. */
const CLIENTS = Number(inheritedEnvironment()['TWO_APIS_CLIENTS'] ?? 20);
const CLIENTS_OF_A_WORKSPACE = 5;
const ROUNDS = 2;
/** Repetitions after 503. */
const REPEATS_MAX = 5;
const CASE_LIMIT_MS = 180_000;

type Reply = {
  readonly status: number;
  readonly data: unknown;
  readonly position: string | null;
};
type Api = ((method: string, path: string, options: Asking) => Promise<Reply>) & { readonly url: string };
type Asking = { readonly key: string; readonly body?: object; readonly minPosition?: string };

let stack: ApiStack;
let apis: readonly [Api, Api];
let brands: readonly CorpusBrand[];
const processes = new AsyncDisposableStack();

const startApi = async (): Promise<Api> => {
  const port = await freePort();
  const api = startProcess('services/api/main.ts', {
    ...stack.environment,
    API_PORT: String(port),
    CURSOR_SECRET: 'a secret for tests only',
  });
  processes.defer(async () => void (await api.stop()));
  await api.says('"listening"');
  const url = `http://127.0.0.1:${port}`;
  const ask = async (method: string, path: string, { key, body, minPosition }: Asking): Promise<Reply> => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body ? { 'content-type': 'application/json', 'idempotency-key': randomUUID() } : {}),
      ...(minPosition ? { 'min-position': minPosition } : {}),
    };
    const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
    for (let again = 0; ; again += 1) {
      const reply = await fetch(`${url}${path}`, init);
      const { data } = (await reply.json()) as { data?: unknown };
      const position = reply.headers.get('x-read-position');
      // On a busy machine a request may be late; a client repeats it.
      if (reply.status !== 503 || again === REPEATS_MAX) return { status: reply.status, data, position };
      await pause(Number(reply.headers.get('retry-after')) * 1_000);
    }
  };
  return Object.assign(ask, { url });
};

beforeAll(async () => {
  stack = await openApiStack();
  const names = Array.from({ length: CLIENTS_OF_A_WORKSPACE * ROUNDS }, (_, place) => `brand${place}`);
  brands = await stack.seed(names);
  apis = [await startApi(), await startApi()];
}, CASE_LIMIT_MS);
afterAll(async () => {
  await processes.disposeAsync();
  await stack[Symbol.asyncDispose]();
});

const otherThan = (api: Api): Api => (api === apis[0] ? apis[1] : apis[0]);

const shows = async (api: Api, key: Key, brandId: string, minPosition?: string): Promise<boolean> => {
  const path = `/v1/workspaces/${key.workspaceId}/tracked-brands?limit=100`;
  const asking = minPosition === undefined ? { key: key.text } : { key: key.text, minPosition };
  const { status, data } = await api('GET', path, asking);
  expect(status).toBe(200);
  return (data as { brand: { id: string } }[]).some(({ brand }) => brand.id === brandId);
};

const runClient = async (api: Api, key: Key, own: readonly CorpusBrand[]): Promise<readonly string[]> => {
  const missed: string[] = [];
  const path = `/v1/workspaces/${key.workspaceId}/tracked-brands`;
  for (const { id } of own) {
    for (const expected of [true, false]) {
      const written = expected
        ? await api('POST', path, { key: key.text, body: { brand_id: id } })
        : await api('DELETE', `${path}/${id}`, { key: key.text, body: {} });
      expect(written.status).toBe(expected ? 201 : 200);
      if ((await shows(api, key, id)) !== expected) missed.push(`${id} here`);
      if ((await shows(otherThan(api), key, id, written.position ?? '')) !== expected)
        missed.push(`${id} elsewhere`);
    }
  }
  return missed;
};

test(`two API processes show each of ${CLIENTS} clients its own write in the next read, through either API`, {
  timeout: CASE_LIMIT_MS,
}, async () => {
  const keys = await Promise.all(Array.from({ length: CLIENTS / CLIENTS_OF_A_WORKSPACE }, () => stack.key()));
  const clients = keys.flatMap((key) =>
    Array.from({ length: CLIENTS_OF_A_WORKSPACE }, (_, place) => {
      const own = brands.slice(place * ROUNDS, (place + 1) * ROUNDS);
      return runClient(apis[place % 2] as Api, key, own);
    }),
  );
  expect(clients).toHaveLength(CLIENTS);
  expect((await Promise.all(clients)).flat()).toEqual([]);
});

const CROWD = 20;
/** Refusals in a row after which a client gives up. */
const REFUSALS_MAX = 6;
const REFUSED_WAIT_MS = 250;

/** Sends until all are refused. Returns answered requests by the minute that counted them. */
const countAnswered = async (
  urls: readonly string[],
  places: readonly number[],
  key: Key,
): Promise<ReadonlyMap<string, number>> => {
  const minutes = new Map<string, number>();
  let sent = 0;
  const send = async (): Promise<void> => {
    for (let refusals = 0; refusals < REFUSALS_MAX; ) {
      const place = places[sent % places.length] ?? 0;
      sent += 1;
      const reply = await fetch(`${urls[place]}/v1/me`, { headers: { authorization: `Bearer ${key.text}` } });
      await reply.arrayBuffer();
      const minute = reply.headers.get('x-ratelimit-reset') ?? '';
      if (reply.status === 200) {
        minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
        refusals = 0;
        continue;
      }
      expect([reply.status, reply.headers.get('x-ratelimit-remaining')]).toEqual([429, '0']);
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
      refusals += 1;
      await pause(REFUSED_WAIT_MS);
    }
  };
  await Promise.all(Array.from({ length: CROWD }, send));
  return minutes;
};

test('four API processes together answer the limit of a workspace, and one alone answers nearly all of it', {
  timeout: CASE_LIMIT_MS,
}, async () => {
  const urls = [...apis, ...(await Promise.all([startApi(), startApi()]))].map(({ url }) => url);
  const cases = [
    ['free', 'on one process', [0]],
    ['free', 'evenly', [0, 1, 2, 3]],
    ['free', 'skewed', [3, 3, 3, 3, 3, 2, 1, 0]],
    ['pro', 'on one process', [3]],
  ] as const;
  const figures: [string, number][] = [];
  const measure = async ([plan, load, places]: (typeof cases)[number]): Promise<void> => {
    const limit = PLANS[plan].requestsPerMinute;
    for (;;) {
      const minutes = [...(await countAnswered(urls, places, await stack.key({ plan }))).values()];
      for (const answered of minutes) expect(answered, `${limit} ${load}`).toBeLessThanOrEqual(1.1 * limit);
      // A second minute says nothing about the limit.
      if (minutes.length > 1) continue;
      figures.push([`${limit} ${load}`, (minutes[0] ?? 0) / limit]);
      return;
    }
  };
  // Each has its own workspace, and most of its time is waits after refusals.
  await Promise.all(cases.map(measure));
  for (const [, part] of figures) expect(part, JSON.stringify(figures)).toBeGreaterThanOrEqual(0.95);
});

// The last test: afterwards the projector is stopped, for which each write would wait.
test('two API processes refuse a revoked key from the next request on, even while the projector is stopped', {
  timeout: CASE_LIMIT_MS,
}, async () => {
  const keys = [await stack.key(), await stack.key()] as const;
  await stack.stopProjector();
  const me = async (api: Api, text: string) => (await api('GET', '/v1/me', { key: text })).status;
  const create = async (api: Api, path: string, key: Key) => {
    const body = { name: 'ci', scopes: ['me:read', 'apiKeys:write'] };
    const { status, data } = await api('POST', path, { key: key.text, body });
    expect(status).toBe(201);
    return data as { key_id: string; api_key: string };
  };
  const refuse = async ([here, there]: readonly [Api, Api], key: Key): Promise<void> => {
    const path = `/v1/workspaces/${key.workspaceId}/api-keys`;
    const { key_id, api_key } = await create(here, path, key);
    for (const api of apis) expect(await me(api, api_key)).toBe(200);
    const rotated = await here('POST', `${path}/${key_id}/rotate`, { key: key.text, body: {} });
    expect(await me(there, api_key)).toBe(401);
    expect(await me(here, api_key)).toBe(401);
    const fresh = rotated.data as { key_id: string; api_key: string };
    for (const api of apis) expect(await me(api, fresh.api_key)).toBe(200);
    const removed = await here('DELETE', `${path}/${fresh.key_id}`, { key: key.text, body: {} });
    expect(removed.data).toMatchObject({ removed: true });
    expect(await me(there, fresh.api_key)).toBe(401);
    expect(await me(here, fresh.api_key)).toBe(401);
    expect(await me(here, key.text)).toBe(200);
  };
  // Each write waits seconds for the stopped projector.
  await Promise.all([refuse(apis, keys[0]), refuse([apis[1], apis[0]], keys[1])]);
});
