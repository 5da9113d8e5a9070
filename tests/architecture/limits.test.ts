import { describe, expect, test } from 'vitest';
import { AT_LIMIT } from '#deploy/limits/at-limit.ts';
import { ENDS_OTHERWISE } from '#deploy/limits/ends-otherwise.ts';
import { limitsIn, readLimits, readUnnamedWaits } from '#deploy/limits/read-constants.ts';
import { unmatchedEnds, unnamedWaits, waitsIn } from '#deploy/limits/read-waits.ts';

/** Every wait has an end and every queue a limit, and operators can read which. */

test('every wait and queue in the code is described, and nothing else', async () => {
  const limits = await readLimits();
  expect(limits.length).toBeGreaterThan(100);
  const inCode = limits.map(({ file, name }) => `${file} ${name}`);
  const described = Object.entries(AT_LIMIT).flatMap(([file, names]) =>
    Object.keys(names).map((name) => `${file} ${name}`),
  );
  expect(described.toSorted()).toEqual(inCode.toSorted());
});

test('every other place that waits or queues says what ends it, and nothing else does', async () => {
  expect(unmatchedEnds(await readUnnamedWaits(), ENDS_OTHERWISE)).toEqual([]);
});

test('a sentence is about one place: another one with the same primitive needs its own', () => {
  const said = { 'a.ts': { 'const first = Promise.withResolvers': 'A timer.' } };
  const problems = (code: string): readonly string[] =>
    unmatchedEnds(
      waitsIn(code).map((wait) => ({ file: 'a.ts', ...wait })),
      said,
    );
  const first = 'const first = Promise.withResolvers<void>();\n';
  const other = 'const other = Promise.withResolvers<void>();\n';
  expect(problems(first)).toEqual([]);
  expect(problems(first + other)).toEqual([
    'a.ts: no sentence for Promise.withResolvers: const other = Promise.withResolvers<void>();',
  ]);
  expect(problems(other)).toHaveLength(2);
  expect(problems(first + first)).toEqual([
    'a.ts: places and sentences differ in number: const first = Promise.withResolvers',
  ]);
});

test('limits are read with their values, and intervals are none', () => {
  const code = `
export const ANSWER_TIMEOUT_MS = 2 * MINUTE_MS + 1_000;
const WAITING_MAX = 1_000;
const OF_WORKSPACE_WAITING_MAX = WAITING_MAX / 4;
const BUFFER_BYTES_MAX = 2 ** 20;
const IN_FLIGHT_OF: Limits = { one: 1 };
const WAIT_EVERY_MS = 10;
const NAME_MAX = 5;
const OPENED_TIMEOUT_MS = settings.OPENED;
export const RUNNING_PER_WORKSPACE_MAX = Math.min(2, availableParallelism());
const PER_TURN = 2;
const REQUESTS_PER_MINUTE = 60;
  const serialize = createKeyedMutex();
use(createKeyedMutex());
`;
  expect(limitsIn('a.ts', code).map(({ name, value }) => [name, value])).toEqual([
    ['ANSWER_TIMEOUT_MS', 121_000],
    ['WAITING_MAX', 1_000],
    ['OF_WORKSPACE_WAITING_MAX', 250],
    ['BUFFER_BYTES_MAX', 1_048_576],
    ['IN_FLIGHT_OF', '{ one: 1 }'],
    ['RUNNING_PER_WORKSPACE_MAX', '`Math.min(2, availableParallelism())`'],
    ['PER_TURN', 2],
    ['REQUESTS_PER_MINUTE', 60],
    ['serialize', 'one at a time'],
    ['createKeyedMutex', 'one at a time'],
  ]);
});

test('a constant of any name is a limit when a known primitive takes it', () => {
  const code = `
const MOST = 3;
const UNUSED = 4;
const HALF = MOST / 2;
const places = createSemaphore(MOST);
const pool = openPool(url, 5 * HALF, { statement_timeout: 2 });
`;
  expect(limitsIn('a.ts', code).map(({ name }) => name)).toEqual(['MOST', 'HALF']);
});

describe('a place that waits or queues without a named limit is found:', () => {
  const NAMES = new Set(['LIMIT_MS', 'PLACES']);
  const found = (code: string): readonly string[] => unnamedWaits(waitsIn(code), NAMES).map(({ by }) => by);
  const waits: readonly (readonly [by: string, without: string, named: string])[] = [
    ['createSemaphore', 'createSemaphore(8)', 'createSemaphore(PLACES)'],
    ['createKeyedQueue', 'createKeyedQueue(count)', 'createKeyedQueue(2 * PLACES)'],
    ['createConcurrencyLimit', 'createConcurrencyLimit(64, "x")', 'createConcurrencyLimit(PLACES, "x")'],
    ['openPool', 'openPool(url(a, b), 8)', 'openPool(url(a, b), PLACES)'],
    ['openPreparingPool', 'openPreparingPool(url, 8)', 'openPreparingPool(url, PLACES)'],
    ['AbortSignal.timeout', 'AbortSignal.timeout(500)', 'AbortSignal.timeout(LIMIT_MS)'],
    ['pause', 'await pause(5_000, signal)', 'await pause(everyMs, signal)'],
    ['setTimeout', 'setTimeout(() => end(a, [b]), 60 * 1_000)', 'setTimeout(() => end(a), leftMs)'],
    ['fetch', 'await fetch(url, { method })', 'await fetch(url, { signal })'],
    ['new Pool', 'new Pool({ max })', 'new Pool({ max, connectionTimeoutMillis: LIMIT_MS })'],
    ['statement_timeout', 'f({ statement_timeout: 9 })', 'f({ statement_timeout: LIMIT_MS + 9 })'],
    [
      'connectionTimeoutMillis',
      'f({ connectionTimeoutMillis: 9, a })',
      'f({ connectionTimeoutMillis: LIMIT_MS })',
    ],
    ['headersTimeout', 'f({ headersTimeout: 0 })', 'f({ headersTimeout: LIMIT_MS })'],
    ['deadline', 'call({ deadline: Number.POSITIVE_INFINITY })', 'call({ deadline: Date.now() + LIMIT_MS })'],
    ['expires', 'fetch1({ expires: 4_000 })', 'fetch1({ expires: LIMIT_MS })'],
    ['max_messages', 'consume({ max_messages: 9 })', 'consume({ max_messages: PLACES })'],
    ['timeout', 'publish(a, { timeout: 9 })', 'publish(a, { timeout: LIMIT_MS })'],
    ['lock_timeout', '`-c lock_timeout=1000`', '`-c lock_timeout=${LIMIT_MS}`'],
    ['idle_in_transaction_session_timeout', '"set idle_in_transaction_session_timeout = 0"', ''],
    ['new Promise', 'await new Promise<Map<string, number>>((resolve) => on(resolve))', ''],
    ['Promise.withResolvers', 'const over = Promise.withResolvers<void>()', ''],
    ['once', 'await once(socket, "close")', 'socket.once("close", end)'],
    ['createWakeSignal', 'const signal = createWakeSignal()', ''],
    ['createPromiseQueue', 'const queue = createPromiseQueue<number>()', ''],
    [
      '.makeUnaryRequest',
      'client.makeUnaryRequest(A, b, c, d, metadata, {}, answer)',
      'client.makeUnaryRequest(A, b, c, d, metadata, { deadline: Date.now() + LIMIT_MS }, answer)',
    ],
    [
      '.makeServerStreamRequest',
      'node.client.makeServerStreamRequest(READ, b, c, d)',
      'node.client.makeServerStreamRequest(READ, b, c, d, { deadline: Date.now() + LIMIT_MS })',
    ],
    [
      '.request',
      'await connection.request(subject)',
      'connection.request(subject, {}, { timeout: LIMIT_MS })',
    ],
    [
      '.request',
      "dispatcher.request({ accept: 'image/*' })",
      "dispatcher.request({ accept: '*/*', signal })",
    ],
    ['.request', 'http.request(url, { method })', 'http.request(url, { method, timeout: LIMIT_MS })'],
    ['http.get', 'http.get(url)', 'http.get(url, { timeout: LIMIT_MS })'],
    ['net.connect', 'net.connect({ port })', 'net.connect({ port, timeout: LIMIT_MS })'],
    ['tls.connect', 'tls.connect(port, host)', 'tls.connect({ port, timeout: LIMIT_MS })'],
    ['createConnection', 'createConnection(path)', 'createConnection({ path, timeout: LIMIT_MS })'],
    ['finished', 'await finished(stream)', 'await finished(stream, { signal })'],
    ['pipeline', 'await pipeline(a, b)', 'await pipeline(a, b, { signal })'],
    ['discoverEndpoint', 'return discoverEndpoint(settings, secure)', ''],
    ['.drain', 'await connection.drain()', ''],
    ['.closed', 'const reason = await messages.closed()', ''],
    ['.flush', 'await nats.connection.flush()', ''],
  ];
  test.each(waits)('%s', (by, without, named) => {
    expect(found(without)).toEqual([by]);
    expect(found(`// ${without}\n/* ${without} */`)).toEqual([]);
    expect(found(named)).toEqual([]);
  });

  test('also after a text with the signs of a comment', () => {
    const code = "send({ accept: 'image/*' }); const over = Promise.withResolvers(); /* none */";
    expect(found(code)).toEqual(['Promise.withResolvers']);
  });

  test('types, definitions, one connection and the texts of errors are none', () => {
    expect(
      found('type A = { readonly deadline: Date; statement_timeout?: number; once(name: string): void };'),
    ).toEqual([]);
    expect(
      found('export function createSemaphore(slots: number) {}\nconst fetch = (url: string) => url;'),
    ).toEqual([]);
    expect(found('const progress = { finished(totals) { print(totals); }, pipeline({ a, b }) {} };')).toEqual(
      [],
    );
    expect(found("openPool(url, 1); const FAULTS = { timeout: 'The connection timed out.' };")).toEqual([]);
  });
});
