import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { freePort } from '#deploy/local/os/ports.ts';
import { readSettings } from '#platform/settings.ts';
import { type ApiStack, openApiStack } from '../operations/fixtures/stack.ts';
import { type FaultProxy, proxied } from './fault-proxy.ts';
import { type ServiceProcess, startProcess } from '../stack/processes.ts';
import { AS_IN_PRODUCTION } from './servers-under-load/loaded-api.ts';
import { LIVE_KEY } from '#application/access/key-format.ts';
import { EVENT_STORE_ANSWER_MS } from '#platform/event-store/settings.ts';
import { READ_ANSWER_MS as READ_ANSWER_MS_OF_API } from '#platform/postgres/settings.ts';

/** SERVER_FAULTS_ALL=1 plays every fault and checks times, on a quiet machine (`npm run trials`). */
const { SERVER_FAULTS_ALL: isLong } = readSettings(
  z.object({ SERVER_FAULTS_ALL: z.coerce.number().default(0) }),
);
/** Limit of a check; longer in the short form, which runs on a busy machine. */
const within = (limitMs: number): number => (isLong ? limitMs : 2 * limitMs + BUSY_MS);
const BUSY_MS = 5_000;
const TWICE_THE_TIME = {
  EVENT_STORE_ANSWER_MS: String(2 * EVENT_STORE_ANSWER_MS),
  READ_ANSWER_MS: String(2 * READ_ANSWER_MS_OF_API),
} as const;
/** Limit of waits that are not checked. */
const PATIENCE_MS = 45_000;
const ANSWER_MS = within(10_000);
/** Limit of a read, also while Postgres does not answer. */
const READ_ANSWER_MS = within(3_000);
const HEALED_MS = within(2_000);
/** Limit of finding dead connections: 5 s to a question, 5 s for its answer. */
const FOUND_MS = within(12_000);
const READS = 12;
const WRITES = 3;
const COMMANDS = 20;
const INVALID = ['revoked', 'unknown'] as const;
const REFUSED_MS = within(2_000);
const LIMIT = { timeout: 4 * PATIENCE_MS };

let stack: ApiStack;
let proxy: FaultProxy;
let storeProxy: FaultProxy;
let natsProxy: FaultProxy;
let api: ServiceProcess;
type KeyKind = 'valid' | 'revoked' | 'unknown';
type CallOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
  readonly key?: KeyKind;
};
type Answer = {
  readonly method: 'GET' | 'POST';
  readonly key: KeyKind;
  readonly status: number;
  readonly type: string | null;
  readonly retryAfter: string | null;
  readonly ms: number;
};
let call: (method: 'GET' | 'POST', options?: CallOptions) => Promise<Answer>;
const resources = new AsyncDisposableStack();

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const through = await proxied(stack.environment['DATABASE_URL'] ?? '');
  proxy = resources.use(through.proxy);
  const store = await proxied(stack.environment['EVENT_STORE_URL'] ?? '');
  storeProxy = resources.use(store.proxy);
  const nats = await proxied(stack.environment['NATS_URL'] ?? '');
  natsProxy = resources.use(nats.proxy);
  const port = await freePort();
  api = startProcess('services/api/main.ts', {
    ...stack.environment,
    DATABASE_URL: through.url,
    EVENT_STORE_URL: store.url,
    NATS_URL: nats.url,
    API_PORT: String(port),
    API_REQUESTS_PER_MINUTE: '100000',
    CURSOR_SECRET: 'a secret for tests only',
    ...(isLong ? AS_IN_PRODUCTION : TWICE_THE_TIME),
  });
  resources.defer(async () => void (await api.stop()));
  const key = await stack.key();
  const revoked = await stack.key();
  const keys: Readonly<Record<KeyKind, string>> = {
    valid: key.text,
    revoked: revoked.text,
    unknown: LIVE_KEY.create(),
  };
  await stack.seed(['alpha']);
  await api.says('"listening"');
  const base = `http://127.0.0.1:${port}/v1`;
  const headersOf = (kind: KeyKind) => ({ authorization: `Bearer ${keys[kind]}` });
  const post = ({
    headers: others = {},
    idempotencyKey = randomUUID(),
    key: kind = 'valid',
  }: CallOptions): Promise<Response> =>
    fetch(`${base}/workspaces/${key.workspaceId}/notes`, {
      method: 'POST',
      headers: {
        ...headersOf(kind),
        ...others,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify({ subject_type: 'ad', subject_key: '100000000000001', body: 'kept' }),
    });
  call = async (method, options = {}) => {
    const since = performance.now();
    const { key: kind = 'valid' } = options;
    const reply =
      method === 'GET'
        ? await fetch(`${base}/brands/alpha`, { headers: { ...headersOf(kind), ...options.headers } })
        : await post(options);
    const body = await reply.text();
    return {
      method,
      key: kind,
      status: reply.status,
      type: reply.ok ? null : (JSON.parse(body) as { error: { type: string } }).error.type,
      retryAfter: reply.headers.get('retry-after'),
      ms: performance.now() - since,
    };
  };
  expect((await call('GET')).status).toBe(200);
  // The process has accepted the key, and so must forget it.
  expect((await call('GET', { key: 'revoked' })).status).toBe(200);
  await stack.revoke(revoked);
}, LIMIT.timeout);
afterAll(() => resources.disposeAsync());

const burst = () => [
  ...Array.from({ length: READS }, () => call('GET')),
  ...Array.from({ length: WRITES }, () => call('POST')),
  ...INVALID.flatMap((key) => [call('GET', { key }), call('POST', { key })]),
];

/** A revoked key and an unknown one are never accepted: while they cannot be looked up, the answer is 503. */
const mayBe = (key: KeyKind): readonly number[] => (key === 'valid' ? [200, 201, 503] : [401, 503]);

const expectAnswered = async (requests: readonly ReturnType<typeof call>[]): Promise<void> => {
  for (const { method, key, status, retryAfter, ms } of await Promise.all(requests)) {
    expect(mayBe(key), key).toContain(status);
    expect(ms).toBeLessThan(method === 'GET' ? READ_ANSWER_MS : ANSWER_MS);
    if (status === 503) expect(Number(retryAfter)).toBeGreaterThan(0);
  }
};

/** Waits until all requests succeed. Fails after the limit. */
const expectHealed = async (limitMs = HEALED_MS): Promise<void> => {
  const since = performance.now();
  const succeeded = async (): Promise<boolean> => {
    const answers = await Promise.all(burst());
    for (const { key, status } of answers) expect(mayBe(key), key).toContain(status);
    return answers.every(({ status }) => status !== 503);
  };
  await expect.poll(succeeded, { timeout: limitMs + PATIENCE_MS, interval: 200 }).toBe(true);
  expect(performance.now() - since).toBeLessThan(limitMs);
};

/** Ends earlier faults: a connection that met one unnoticed would fail a later read. */
const heal = async (): Promise<void> => {
  for (const one of [proxy, storeProxy, natsProxy]) one.endFaults();
  await expectHealed();
};

describe('every request is answered, and requests succeed soon afterwards, while Postgres', LIMIT, () => {
  test.for(isLong ? (['mute', 'one-way', 'slow', 'cut'] as const) : (['mute', 'slow', 'cut'] as const))(
    'is behind a network that is %s',
    async (mode) => {
      const under = burst();
      proxy.set(mode);
      await expectAnswered([...under, ...burst()]);
      // New connections meet the same fault.
      await expectAnswered([call('GET'), call('POST'), ...INVALID.map((key) => call('GET', { key }))]);
      proxy.set('pass');
      await expectHealed();
    },
  );

  test('loses all connections without a word', async () => {
    proxy.halfOpen();
    await expectAnswered(burst());
    await expectHealed(FOUND_MS);
  });

  test.for([false, true])('resets all connections, in the middle of an answer: %s', async (midAnswer) => {
    const under = burst();
    proxy.reset(midAnswer);
    await expectAnswered([...under, ...burst()]);
    await expectHealed();
  });
});

describe('while the event store', LIMIT, () => {
  test.for(isLong ? (['mute', 'one-way', 'cut'] as const) : (['cut'] as const))(
    'is behind a network that is %s, reads succeed and commands get 503 soon',
    async (mode) => {
      await heal();
      storeProxy.set(mode);
      const commands = Array.from({ length: COMMANDS }, () => call('POST'));
      for (const { status } of await Promise.all(Array.from({ length: READS }, () => call('GET'))))
        expect(status).toBe(200);
      for (const { status, retryAfter, ms } of await Promise.all(commands)) {
        expect(status).toBe(503);
        expect(Number(retryAfter)).toBeGreaterThan(0);
        expect(ms).toBeLessThan(REFUSED_MS);
      }
      // By now appends are refused at once.
      expect((await call('POST')).ms).toBeLessThan(REFUSED_MS / 2);
      storeProxy.set('pass');
      await expect.poll(async () => (await call('POST')).status, { timeout: PATIENCE_MS }).toBe(201);
    },
  );
});

test.runIf(isLong)('reads and commands succeed while the event store is slow', LIMIT, async () => {
  await heal();
  storeProxy.set('slow');
  for (const { status } of await Promise.all(burst())) expect(status).not.toBe(503);
  storeProxy.set('pass');
});

describe('when the event store', LIMIT, () => {
  const RESETS = 'resets all connections in the middle of an answer';
  test.for(isLong ? [RESETS, 'loses all connections without a word'] : [RESETS])(
    '%s, reads succeed, every command is answered, and commands succeed soon afterwards',
    async (fault) => {
      await heal();
      if (fault.startsWith('loses')) storeProxy.halfOpen();
      else storeProxy.reset(true);
      const commands = Array.from({ length: WRITES }, () => call('POST'));
      for (const { status } of await Promise.all(Array.from({ length: READS }, () => call('GET'))))
        expect(status).toBe(200);
      await expectAnswered(commands);
      await expect.poll(async () => (await call('POST')).status, { timeout: PATIENCE_MS }).toBe(201);
      storeProxy.endFaults();
    },
  );
});

test(
  'reads and commands succeed while NATS is silent, slow or gone, or loses its connections',
  LIMIT,
  async () => {
    await heal();
    const expectAll = async (fault: string): Promise<void> => {
      for (const { status } of await Promise.all(burst())) expect([fault, status]).not.toContain(503);
    };
    for (const mode of ['mute', 'one-way', 'slow', 'cut', 'pass'] as const) {
      natsProxy.set(mode);
      await expectAll(mode);
    }
    natsProxy.halfOpen();
    await expectAll('half open');
    natsProxy.endFaults();
    natsProxy.reset(true);
    await expectAll('reset');
  },
);

describe('all waits of a request together', LIMIT, () => {
  /** Position that no read model reaches. */
  const MIN_POSITION = { 'min-position': '9223372036854775807' };
  /** Delay within the limits of a statement and of a call. */
  const LATE_MS = 3_400;

  /** `null` before the claim. */
  const claimOf = async (idempotencyKey: string) => {
    const { rows } = await stack.pool.query<{ status: number | null; is_free: boolean }>(
      `select status, taken_at = '-infinity' as is_free from access.idempotency where key = $1`,
      [idempotencyKey],
    );
    return rows[0] ?? null;
  };
  /** Sends writes until one has claimed its key: the check of the API key may take all its time. */
  const writeTooSlowly = async () => {
    for (;;) {
      await heal();
      const before = await stack.eventStore.head();
      const idempotencyKey = randomUUID();
      proxy.set('slow', LATE_MS);
      storeProxy.set('slow', LATE_MS);
      const write = await call('POST', { idempotencyKey });
      proxy.set('pass');
      storeProxy.set('pass');
      if ((await claimOf(idempotencyKey)) !== null) return { before, idempotencyKey, write };
    }
  };

  test('end after its time, and a write whose time is over is not recorded afterwards', async () => {
    const { before, idempotencyKey, write } = await writeTooSlowly();
    expect(write).toMatchObject({ status: 503, type: 'unavailable' });
    expect(Number(write.retryAfter)).toBeGreaterThan(0);
    expect(write.ms).toBeLessThan(ANSWER_MS);
    // Its steps have ended: the claim on its key has a reply, or is free for the next request.
    await expect
      .poll(
        async () => {
          const claim = await claimOf(idempotencyKey);
          return claim === null || claim.status !== null || claim.is_free;
        },
        { timeout: PATIENCE_MS },
      )
      .toBe(true);
    expect((await claimOf(idempotencyKey))?.status ?? null).toBeNull();
    expect(await stack.eventStore.head()).toBe(before);
    expect((await call('POST', { idempotencyKey })).status).toBe(201);
  });

  test.for(
    isLong
      ? ([
          { postgresMs: 200, store: 'pass' },
          { postgresMs: 2_000, store: 'pass' },
          { postgresMs: 2_000, store: 'mute' },
        ] as const)
      : ([{ postgresMs: 2_000, store: 'mute' }] as const),
  )(
    'have one limit while Postgres takes $postgresMs ms for each answer, the event store is: $store, and no read model reaches the position',
    async ({ postgresMs, store }) => {
      await heal();
      proxy.set('slow', postgresMs);
      storeProxy.set(store);
      const read = (): ReturnType<typeof call> => call('GET', { headers: MIN_POSITION });
      await expectAnswered([read(), read(), call('GET'), call('POST'), call('POST')]);
      proxy.set('pass');
      storeProxy.set('pass');
      await expectHealed();
    },
  );
});

test('the process ran all the time, and logged no fault of its own', () => {
  expect(api.child.exitCode).toBeNull();
  expect(api.output()).not.toContain('request failed');
});
