import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { startEventStore } from '#deploy/local/event-store/start.ts';
import { freePort } from '#deploy/local/os/ports.ts';
import { toOverload } from '#operations/endpoint/overload.ts';
import { pause } from '#platform/clock.ts';
import {
  type EventStore,
  openEventStore,
  type Recorded,
  StreamMoved,
} from '#platform/event-store/event-store.ts';
import { EVENT_STORE_ANSWER_MS } from '#platform/event-store/settings.ts';
import { readSettings } from '#platform/settings.ts';
import { createTestDatabase, type TestDatabase } from '#tests/stack/database.ts';
import { startProcess } from '#tests/stack/processes.ts';
import { judge } from '#tests/trials/judge.ts';

/** `npm run trials -- frozen-store` runs longer and checks times, on a quiet machine. */
const { FROZEN_STORE_OUTAGES: outages, FROZEN_STORE_ROUNDS: rounds } = readSettings(
  z.object({
    FROZEN_STORE_OUTAGES: z.coerce.number().int().min(1).default(3),
    FROZEN_STORE_ROUNDS: z.coerce.number().int().min(0).default(0),
  }),
);
const isLong = rounds > 0;
const WRITERS = isLong ? 64 : 8;
/** Limit of an append with the default setting; a busy machine gets more. */
const REFUSED_MS = isLong ? 2_000 : 20_000;
const FROZEN_MS = isLong ? 20_000 : 3_000;
const STEADY_MS = 60_000;
const LIMIT = { timeout: 120_000 + rounds * 60_000 + outages * 20_000 };

const resources = new AsyncDisposableStack();
afterAll(() => resources.disposeAsync());
const createDatabase = async (): Promise<TestDatabase> => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  return database;
};

const METADATA = {
  $correlationId: 'trial',
  $causationId: 'trial',
  request_id: 'trial',
  actor: { kind: 'service', id: 'tests' },
} as const;

type Attempt = { readonly id: string; readonly outcome: Recorded | Error; readonly ms: number };

const appendOnce = async (store: EventStore, stream: string, expected: bigint): Promise<Attempt> => {
  const id = randomUUID();
  const since = performance.now();
  try {
    const outcome = await store.append(
      stream,
      expected,
      [{ type: 'Tried', data: { id } }],
      METADATA,
      () => id,
    );
    return { id, outcome, ms: performance.now() - since };
  } catch (error) {
    return { id, outcome: error as Error, ms: performance.now() - since };
  }
};

/** Appends until told to stop; after a refusal it first looks what was recorded. */
const write = async (
  store: EventStore,
  stream: string,
  attempts: Attempt[],
  isOver: () => boolean,
): Promise<void> => {
  let expected = -1n;
  while (!isOver()) {
    const attempt = await appendOnce(store, stream, expected);
    attempts.push(attempt);
    if (!(attempt.outcome instanceof Error)) expected = attempt.outcome.revision;
    else {
      await pause(20);
      const last = await store.last(stream).catch(() => undefined);
      if (last !== undefined) expected = last?.revision ?? -1n;
    }
  }
};

const untilAllSucceed = async (all: readonly (readonly Attempt[])[]): Promise<void> => {
  const count = (attempts: readonly Attempt[]): number =>
    attempts.filter(({ outcome }) => !(outcome instanceof Error)).length;
  const before = all.map(count);
  await expect
    .poll(() => all.every((attempts, at) => count(attempts) > (before[at] ?? 0)), { timeout: STEADY_MS })
    .toBe(true);
};

test(
  'frozen under many writers, it costs them two seconds, and loses and doubles nothing',
  LIMIT,
  async (context) => {
    const database = await createDatabase();
    const port = await freePort();
    const server = startProcess('deploy/local/event-store/main.ts', {
      EVENT_STORE_PORT: String(port),
      EVENT_STORE_DATABASE_URL: database.url,
    });
    resources.defer(async () => void (await server.stop()));
    await server.says('event store listening');
    const url = `esdb://127.0.0.1:${port}?tls=false`;
    await using store = openEventStore(url, { answerWithinMs: EVENT_STORE_ANSWER_MS });
    const run = randomUUID();
    for (let round = 0; round < Math.max(1, rounds); round += 1) {
      let isOver = false;
      const streams = Array.from({ length: WRITERS }, (_, writer) => `test-${run}-${round}-${writer}`);
      const each = streams.map((): Attempt[] => []);
      const writers = streams.map((stream, at) => write(store, stream, each[at] ?? [], () => isOver));
      try {
        await untilAllSucceed(each);
        server.child.kill('SIGSTOP');
        await pause(FROZEN_MS);
        server.child.kill('SIGCONT');
        await untilAllSucceed(each);
      } finally {
        isOver = true;
        server.child.kill('SIGCONT');
        await Promise.all(writers);
      }
      const attempts = each.flat();
      // An append without an answer may be recorded, so that the stream has moved.
      const refused = attempts.filter(
        ({ outcome }) => outcome instanceof Error && !(outcome instanceof StreamMoved),
      );
      expect(refused.length).toBeGreaterThanOrEqual(WRITERS / 2);
      for (const { outcome } of refused) {
        const refusal = toOverload(outcome);
        expect(refusal).toBeInstanceOf(Refusal);
        expect(refusal).toMatchObject({ code: 'overloaded' });
      }
      const patient = openEventStore(url);
      const recorded: string[] = [];
      for (const stream of streams) for await (const { id } of patient.read(stream)) recorded.push(id);
      await patient[Symbol.asyncDispose]();
      const kept = new Set(recorded);
      const acknowledged = attempts.filter(({ outcome }) => !(outcome instanceof Error));
      expect(acknowledged.length).toBeGreaterThan(WRITERS);
      const lost = acknowledged.filter(({ id }) => !kept.has(id)).length;
      const slowest = Math.max(0, ...refused.map(({ ms }) => ms));
      judge(context, `slowest of ${refused.length} refusals while it is frozen`, slowest, {
        atMost: REFUSED_MS,
        unit: 'ms',
      });
      judge(context, `lost of ${acknowledged.length} acknowledged appends`, lost, { equals: 0 });
      judge(context, 'appends recorded twice', recorded.length - kept.size, { equals: 0 });
    }
    expect(server.child.exitCode).toBeNull();
    await server.stop();
  },
);

test(
  'found by its cluster, it takes the next append within two tries after each outage',
  LIMIT,
  async (context) => {
    const database = await createDatabase();
    const [port, other] = [await freePort(), await freePort()];
    const short = 'maxDiscoverAttempts=2&discoveryInterval=50';
    const urls = [
      `esdb+discover://127.0.0.1:${port}?tls=false&${short}`,
      `esdb://127.0.0.1:${port},127.0.0.1:${other}?tls=false&${short}`,
    ];
    await using opened = new AsyncDisposableStack();
    const answerWithinMs = isLong ? EVENT_STORE_ANSWER_MS : 15_000;
    const stores = urls.map((url) => opened.use(openEventStore(url, { answerWithinMs })));
    let most = 0;
    for (let outage = 0; outage < outages; outage += 1) {
      const failing = stores.map((store) => appendOnce(store, `test-${randomUUID()}`, -1n));
      await pause(outage % 2 === 0 ? 100 : 300);
      const server = await startEventStore({ databaseUrl: database.url, host: '127.0.0.1', port });
      try {
        await Promise.all(failing);
        for (const store of stores) {
          let tries = 1;
          while ((await appendOnce(store, `test-${randomUUID()}`, -1n)).outcome instanceof Error) tries += 1;
          most = Math.max(most, tries);
        }
      } finally {
        await server.stop();
      }
    }
    judge(context, `most tries of the first append after each of ${outages} outages`, most, { atMost: 2 });
  },
);
