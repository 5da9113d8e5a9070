import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { percentile } from '#tests/percentile.ts';
import {
  type ReplicatedPostgres,
  startReplicatedPostgres,
} from '../../application/reads/replicated-postgres.ts';
import { type ApiStack, type Key, openApiStack } from '../../operations/fixtures/stack.ts';
import { judge } from '../../trials/judge.ts';
import { type FaultProxy, proxied } from '../fault-proxy.ts';
import { AS_IN_PRODUCTION, createCaller, type LoadedApi, startLoadedApi } from './loaded-api.ts';
import { type Call, isSuccess, sampleMemory, type Send, sendSteadily } from './steady-load.ts';

/**
 * While the standby is silent, the primary must answer all. Runs in `npm run trial -- server-faults` only;
 * `application/reads/standby` has the short form.
 */

const { SERVER_FAULTS_ALL: isLong } = readSettings(
  z.object({ SERVER_FAULTS_ALL: z.coerce.number().default(0) }),
);
const DATABASE = 'ad_intelligence';
const PER_SECOND = { reads: 80, searches: 4, waits: 4, writes: 8 } as const;
type Kind = keyof typeof PER_SECOND;
const KINDS = Object.keys(PER_SECOND) as readonly Kind[];
/** Limit of a read, also while Postgres does not answer. */
const READ_ANSWERED_MS = 3_000;
const ANSWER_MS = 10_000;
const GIVEN_UP_MS = 15_000;
const MEMORY_RATIO = 1.2;
/** Load in which memory reaches its usual size: it grew from 254 to 316 MiB. */
const WARM_UP_MS = 40_000;
const BEFORE_MS = 2_000;
const SILENT_MS = 7_000;
const PATIENCE_MS = 60_000;
const LIMIT_MS = 240_000;

describe.runIf(isLong)('while a standby falls silent under load', { timeout: LIMIT_MS }, () => {
  let postgres: ReplicatedPostgres;
  let stack: ApiStack;
  let api: LoadedApi;
  let proxy: FaultProxy;
  let reader: Key;
  let writer: Key;
  /** Most memory under load without a fault. */
  let usualMib = 0;
  let standbyReplies = 0;
  const resources = new AsyncDisposableStack();

  beforeAll(async () => {
    postgres = resources.use(await startReplicatedPostgres());
    await postgres.primary.createDatabase(DATABASE);
    const url = postgres.primary.databaseUrl(DATABASE);
    stack = resources.use(await openApiStack({ url, drop: () => Promise.resolve() }));
    const through = await proxied(postgres.standby.databaseUrl(DATABASE), (bytes) => {
      if (bytes.includes('alpha')) standbyReplies += 1;
    });
    proxy = resources.use(through.proxy);
    const caller = await createCaller(stack);
    reader = caller.key;
    writer = await stack.key();
    api = await startLoadedApi(stack, caller, { ...AS_IN_PRODUCTION, READ_DATABASE_URL: through.url });
    resources.defer(async () => void (await api.process.stop()));
    using memory = sampleMemory(api.process.child.pid);
    await underLoad(() => pause(WARM_UP_MS));
    usualMib = memory.peak();
  }, LIMIT_MS);
  afterAll(() => resources.disposeAsync());

  const isReadFromStandby = async (): Promise<boolean> => {
    const before = standbyReplies;
    for (let read = 0; read < 20; read += 1)
      expect((await api.read(AbortSignal.timeout(GIVEN_UP_MS))).status).toBe(200);
    return standbyReplies > before;
  };

  const get =
    (path: string, headers: Readonly<Record<string, string>> = {}): Send =>
    (signal) =>
      fetch(`${api.base}${path}`, {
        headers: { authorization: `Bearer ${reader.text}`, ...headers },
        signal,
      });
  /** Another caller writes: who has written reads from the primary for a while. */
  const write: Send = (signal) =>
    fetch(`${api.base}/workspaces/${writer.workspaceId}/notes`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${writer.text}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({ subject_type: 'ad', subject_key: '100000000000001', body: 'kept' }),
      signal,
    });
  /** Sends requests until `played` resolves. */
  const underLoad = async (
    played: () => Promise<void>,
  ): Promise<readonly (readonly [Kind, readonly Call[]])[]> => {
    const sends: Readonly<Record<Kind, Send>> = {
      reads: api.read,
      searches: get('/ads?q=boots'),
      waits: get('/brands/alpha', { 'min-position': String(await stack.eventStore.head()) }),
      writes: write,
    };
    const ending = new AbortController();
    const send = async (kind: Kind) => {
      const load = { sends: [sends[kind]], perSecond: PER_SECOND[kind], answerMs: GIVEN_UP_MS };
      return [kind, await sendSteadily(load, ending.signal)] as const;
    };
    const loading = Promise.all(KINDS.map(send));
    await played();
    ending.abort();
    return loading;
  };

  test.for([
    ['answers nothing', () => proxy.set('mute')],
    ['has forgotten its connections', () => proxy.halfOpen()],
  ] as const)('which %s, all requests succeed in time, and memory stays', async ([fault, begin], context) => {
    await expect.poll(isReadFromStandby, { timeout: PATIENCE_MS }).toBe(true);
    using memory = sampleMemory(api.process.child.pid);
    const calls = await underLoad(async () => {
      await pause(BEFORE_MS);
      // On a busy machine the standby may be left out for a moment.
      const repliesBefore = standbyReplies;
      await expect
        .poll(() => standbyReplies, { timeout: PATIENCE_MS, interval: 10 })
        .toBeGreaterThan(repliesBefore);
      begin();
      await pause(SILENT_MS);
      proxy.endFaults();
    });
    const mostMib = memory.peak();
    for (const [kind, ofKind] of calls) {
      const failed = ofKind.filter((call) => !isSuccess(call));
      const statuses = [...new Set(failed.map(({ status }) => status))].join(', ');
      judge(context, `${fault}: failed of ${ofKind.length} ${kind} (${statuses || 'none'})`, failed.length, {
        equals: 0,
      });
      const times = ofKind.map(({ ms }) => ms);
      const p99 = percentile(times, 0.99).toFixed(0);
      judge(context, `${fault}: slowest of them, p99 ${p99} ms`, Math.max(...times), {
        atMost: kind === 'writes' ? ANSWER_MS : READ_ANSWERED_MS,
        unit: 'ms',
      });
    }
    judge(
      context,
      `${fault}: memory of the API against ${usualMib.toFixed(0)} MiB before`,
      mostMib / usualMib,
      {
        atMost: MEMORY_RATIO,
        unit: '×',
      },
    );
    await expect.poll(isReadFromStandby, { timeout: PATIENCE_MS }).toBe(true);
    expect(api.process.child.exitCode).toBeNull();
  });
});
