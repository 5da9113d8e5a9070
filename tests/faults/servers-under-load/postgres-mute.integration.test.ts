import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { type ApiStack, openApiStack } from '../../operations/fixtures/stack.ts';
import { judge } from '../../trials/judge.ts';
import { type FaultProxy, proxied } from '../fault-proxy.ts';
import { AS_IN_PRODUCTION, createCaller, type LoadedApi, startLoadedApi } from './loaded-api.ts';
import { type Call, isSuccess, sampleMemory, type Send, sendSteadily } from './steady-load.ts';

const { POSTGRES_MUTE_SECONDS: muteSeconds } = readSettings(
  z.object({ POSTGRES_MUTE_SECONDS: z.coerce.number().int().min(1).default(2) }),
);
/** The long form (`npm run trial -- postgres-mute`) judges time and memory, and needs the machine to itself. */
const isLong = muteSeconds >= 60;
const ANSWER_MS = 10_000;
const READ_ANSWERED_MS = 3_000;
/** Limit of a call; longer in the short form, because other tests run at the same time. */
const GIVEN_UP_MS = isLong ? ANSWER_MS + 5_000 : 60_000;
const MEMORY_RATIO = 1.2;
const SUCCESS_SHARE = 0.99;
/** Time after the silence by which requests must succeed again. */
const HEALED_MS = 2_000;
const PER_SECOND = isLong ? 100 : 20;
/** Load before the silence, in which memory reaches its usual size. */
const BEFORE_MS = isLong ? 60_000 : 1_000;
const AFTER_MS = isLong ? 30_000 : HEALED_MS + 1_000;
const PATIENCE_MS = 60_000;
const LIMIT_MS = 300_000 + muteSeconds * 2_000;

let stack: ApiStack;
let proxy: FaultProxy;
let api: LoadedApi;
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  stack = resources.use(await openApiStack());
  const through = await proxied(stack.environment['DATABASE_URL'] ?? '');
  proxy = resources.use(through.proxy);
  api = await startLoadedApi(stack, await createCaller(stack), {
    DATABASE_URL: through.url,
    ...(isLong ? AS_IN_PRODUCTION : {}),
  });
  resources.defer(async () => void (await api.process.stop()));
});
afterAll(() => resources.disposeAsync());

test('every request is answered while Postgres is mute, memory stays, and requests succeed soon afterwards', {
  timeout: LIMIT_MS,
}, async (context) => {
  using memory = sampleMemory(api.process.child.pid);
  const ending = new AbortController();
  const send = (one: Send, share: number): ReturnType<typeof sendSteadily> =>
    sendSteadily({ sends: [one], perSecond: PER_SECOND * share, answerMs: GIVEN_UP_MS }, ending.signal);
  const loading = Promise.all([send(api.read, 0.9), send(api.write, 0.1)]);
  await pause(BEFORE_MS);
  const usualMib = memory.peak();
  proxy.set('mute');
  await pause(muteSeconds * 1_000);
  proxy.set('pass');
  const passedMs = performance.now();
  await pause(AFTER_MS);
  const mostMib = memory.peak();
  ending.abort();
  const [reads, writes] = await loading;
  const calls = [...reads, ...writes];
  const after = calls.filter(({ startedMs }) => startedMs >= passedMs + HEALED_MS);
  const unanswered = calls.filter(({ status }) => status === null).length;
  const wrong = calls.filter(({ status }) => status !== null && ![200, 201, 503].includes(status)).length;
  const slowestOf = (some: readonly Call[]): number => Math.max(...some.map(({ ms }) => ms));
  // A short silence costs time only.
  if (isLong) expect(calls.some(({ status }) => status === 503)).toBe(true);
  judge(context, `unanswered of ${calls.length} requests`, unanswered, { equals: 0 });
  judge(context, 'answers other than success and 503', wrong, { equals: 0 });
  judge(context, `slowest answer, Postgres mute for ${muteSeconds} s`, slowestOf(calls), {
    atMost: ANSWER_MS,
    unit: 'ms',
    isJudged: isLong,
  });
  judge(context, 'slowest answer to a read', slowestOf(reads), {
    atMost: READ_ANSWERED_MS,
    unit: 'ms',
    isJudged: isLong,
  });
  judge(context, `memory of the API against ${usualMib.toFixed(0)} MiB before`, mostMib / usualMib, {
    atMost: MEMORY_RATIO,
    unit: '×',
    isJudged: isLong,
  });
  judge(
    context,
    `success of ${after.length} requests from ${HEALED_MS} ms after`,
    after.filter(isSuccess).length / after.length,
    { atLeast: SUCCESS_SHARE, isJudged: isLong },
  );
  const succeeds = async (): Promise<boolean> => (await api.write(AbortSignal.timeout(GIVEN_UP_MS))).ok;
  await expect.poll(succeeds, { timeout: PATIENCE_MS }).toBe(true);
  expect(api.process.child.exitCode).toBeNull();
});
