import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { streamsOfBrand } from '#application/as-of/event-streams.ts';
import { openKeptStates } from '#application/as-of/kept-states.ts';
import { openPastReads, type PastRead, type PastReads } from '#application/as-of/past-reads.ts';
import type { Event, RecordedEvent } from '#contracts/events/event.ts';
import { pause } from '#platform/clock.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { silentLog } from '#platform/logger.ts';
import { readSettings } from '#platform/settings.ts';
import { brands } from '#projections/brands/project.ts';
import { readDailyActivity } from '#projections/daily-activity/read.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { on } from '#tests/dsl/api.ts';
import { FEATURES } from '../reference/features.ts';
import { place, type Placement } from '../reference/service/placement.ts';
import { at, scan, shown, worldWith } from '../reference/sketch.ts';
import type { World } from '../reference/world.ts';
import { worldArbitrary } from '../reference/worlds.ts';
import { untilPassed } from '../stack/read-models.ts';
import { GAP, type KeepingReads, openKeepingReads } from './fixtures/kept-states.ts';
import { pathsOf, withParameter } from './fixtures/past-answers.ts';
import { type ApiStack, type Key, openApiStack } from './fixtures/stack.ts';

/** Kept states change no answer. */
const { KEPT_WORLDS, KEPT_READS, KEPT_SEED } = readSettings(
  z.object({
    KEPT_WORLDS: z.coerce.number().int().positive().default(1),
    KEPT_READS: z.coerce.number().int().positive().default(200),
    KEPT_SEED: z.coerce.number().int().default(20_261_201),
  }),
);
const LIMIT_MS = 120_000 + 120_000 * KEPT_WORLDS + 500 * KEPT_READS;

let stack: ApiStack;
let plain: PastReads;
let keeping: KeepingReads;
beforeAll(async () => {
  stack = await openApiStack();
  plain = openPastReads(stack.environment['DATABASE_URL'] ?? '', stack.pool, stack.eventStore);
  keeping = openKeepingReads(stack);
}, LIMIT_MS);
afterAll(async () => {
  await keeping[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

/** Moments of a kind that are compared in each world. */
const MOMENTS_MAX = 3;
/** Worlds of which the largest is compared; small ones have no states. */
const CHOSEN_OF = 5;
/** Fewer would prove little. */
const STATES_MIN = 2;
const SLOW_MS = 1_000;
const WAIT_MS = 50;

type Answer = { readonly status: number; readonly body: unknown };

/** Without ids of requests, and without the words of a refusal for late events, which depend on the order of streams. */
const answerTo = async (app: FastifyInstance, path: string, key: Key): Promise<Answer> => {
  const { status, data, error, meta, headers } = await on(app).get(path, { key });
  const { type, details } = (error as { type?: string; details?: readonly object[] } | undefined) ?? {};
  const codes = details?.map((one) => ({ ...one, message: null }));
  const basis = ['x-as-of-events', 'x-as-of-late-events'].map((name) => headers[name]);
  return { status, body: { data, meta: { ...(meta as object), request_id: null }, type, codes, basis } };
};

const some = <T>(all: readonly T[]): readonly T[] =>
  all.filter((_, index) => index % Math.ceil(all.length / MOMENTS_MAX) === 0);

const momentsOf = (
  recorded: readonly string[],
  { observations }: World,
): readonly (readonly [string, string])[][] => {
  const observed = some([...new Set(observations.map((one) => one.at))].toSorted());
  const asOf = (one: string) => ['as_of', one] as const;
  const observedAsOf = (one: string) => ['observed_as_of', one] as const;
  return [
    [asOf('2001-01-01T00:00:00Z')],
    ...recorded.map((one) => [asOf(one)]),
    ...observed.map((one) => [observedAsOf(one)]),
    [asOf(recorded.at(-1) ?? ''), observedAsOf(observed.at(-1) ?? '')],
  ];
};

const pastOf = (brandId: string, until: PastRead['until']): PastRead => ({
  streams: streamsOfBrand(brandId),
  readModels: ['brands', 'daily-activity', 'ads'],
  ofTracked: null,
  until,
});

const daysOf = (reads: PastReads, past: PastRead, brandId: string) =>
  reads
    .read(past, async (db) => (await readDailyActivity(db, brandId, {})).items)
    .then(({ result, basis }) => ({
      result,
      basis: { ...basis, streams: Object.fromEntries(basis.streams) },
    }))
    .catch((error: Error) => ({ result: error.message, basis: null }));

const intakeOf = async () => {
  const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
  return await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
};

/** Records a world and waits until states of its brands are kept: first of half of it. */
const record = async (world: World, { messagesOf, brandIdOf }: Placement) => {
  await using intake = await intakeOf();
  const messages = world.observations.flatMap(messagesOf);
  const recorded: string[] = [];
  for (const [index, message] of messages.entries()) {
    await intake.submit(message);
    recorded.push(new Date().toISOString());
    await pause(2);
    if (index === Math.floor(messages.length / 2)) await keeping.untilKept(world.brands.map(brandIdOf));
  }
  await untilPassed(stack.pool, await stack.eventStore.head());
  return some(recorded);
};

describe('reads with kept states', () => {
  it(
    'answer as reads without them, in generated worlds, also about brands that have grown since',
    async () => {
      const worlds = fc
        .sample(worldArbitrary(FEATURES), { numRuns: KEPT_WORLDS * CHOSEN_OF, seed: KEPT_SEED })
        .toSorted((one, other) => other.observations.length - one.observations.length)
        .slice(0, KEPT_WORLDS);
      for (const [index, world] of worlds.entries()) {
        const key = await stack.key();
        const placement = place(world, index + 1);
        const brandIds = world.brands.map(placement.brandIdOf);
        const recorded = await record(world, placement);
        const now = new Date();
        const options = { requestsPerMinute: 1_000_000, clock: { now: () => now } };
        const without = await stack.api({ ...options, pastReads: plain });
        const withStates = await stack.api({ ...options, pastReads: keeping.pastReads });
        const compareAll = async (when: string) => {
          for (const moment of momentsOf(recorded, world))
            for (const path of pathsOf(world, placement, key)) {
              const full = moment.reduce((to, [name, value]) => withParameter(to, name, value), path);
              expect(await answerTo(withStates, full, key), `${full} of world ${index}, ${when}`).toEqual(
                await answerTo(without, full, key),
              );
            }
          for (const id of brandIds)
            for (const [since, until] of [recorded.slice(0, 2), recorded.slice(-2)]) {
              const path = `/v1/brands/${id}/changes?limit=100&since=${since}&until=${until}`;
              expect(await answerTo(withStates, path, key), path).toEqual(await answerTo(without, path, key));
            }
          for (const id of brandIds)
            for (const moment of recorded) {
              const past = pastOf(id, { recordedUntil: new Date(moment) });
              expect(await daysOf(keeping.pastReads, past, id)).toEqual(await daysOf(plain, past, id));
            }
        };
        await compareAll('with some states');
        expect(await keeping.untilKept(brandIds)).toBeGreaterThan(STATES_MIN);
        await compareAll('with all states');
      }
    },
    LIMIT_MS,
  );

  const DAYS = 12;

  /** A brand with an ad that was shown every second day. */
  const recordBrand = async (number: number): Promise<string> => {
    const days = Array.from({ length: DAYS }, (_, day) => day + 1);
    const world = worldWith(...days.map((day) => scan(`s${day}`, at(day), day % 2 === 0 ? [] : [shown()])));
    const { messagesOf, brandIdOf } = place(world, number);
    await using intake = await intakeOf();
    for (const message of world.observations.flatMap(messagesOf)) await intake.submit(message);
    return brandIdOf('b1.example');
  };

  /** The log, with the number of events that were read of it, and of reads that did not come to their end. */
  const countingLog = (change: (event: RecordedEvent) => RecordedEvent = (event) => event) => {
    const counts = { events: 0, open: 0 };
    const read = async function* (stream: string, after?: bigint, count?: number) {
      counts.open += 1;
      for await (const event of stack.eventStore.read<Event>(stream, after, count)) {
        counts.events += 1;
        yield change(event);
      }
      counts.open -= 1;
    } as EventStore['read'];
    return { read, counts };
  };

  /** Answers of another process, and the counts of its reads. */
  const readElsewhere = async (brandId: string, change?: (event: RecordedEvent) => RecordedEvent) => {
    const { counts, ...log } = countingLog(change);
    await using other = openKeepingReads(stack, log);
    const answer = await daysOf(other.pastReads, pastOf(brandId, {}), brandId);
    return { answer, ...counts };
  };

  it('read the events since a state only, also in a process that began later', async () => {
    const brandId = await recordBrand(901);
    await keeping.untilKept([brandId]);
    const { answer, events, open } = await readElsewhere(brandId);
    expect(answer).toEqual(await daysOf(plain, pastOf(brandId, {}), brandId));
    // A server closes the connection of a client that abandons many reads.
    expect(open).toBe(0);
    expect(answer.basis?.events).toBeGreaterThan(DAYS);
    expect(events).toBeLessThan(2 * GAP);
  });

  it('do not use states of other rules', async () => {
    const brandId = await recordBrand(902);
    await keeping.untilKept([brandId]);
    await keeping.scratch.query("update public.kept_state set rules = 'others' where brand_id = $1", [
      brandId,
    ]);
    const { answer, events } = await readElsewhere(brandId);
    expect(answer).toEqual(await daysOf(plain, pastOf(brandId, {}), brandId));
    expect(events).toBeGreaterThanOrEqual(DAYS);
    await keeping.untilKept([brandId]);
    expect((await readElsewhere(brandId)).events).toBeLessThan(2 * GAP);
  });

  it('do not use states of a log that was restored and went on otherwise', async () => {
    const brandId = await recordBrand(903);
    await keeping.untilKept([brandId]);
    const { answer, events } = await readElsewhere(brandId, (event) => ({
      ...event,
      id: `other ${event.id}`,
    }));
    expect(answer).toEqual(await daysOf(plain, pastOf(brandId, {}), brandId));
    expect(events).toBeGreaterThanOrEqual(DAYS);
  });

  it('answer right while two processes keep states', async () => {
    const brandId = await recordBrand(904);
    await using other = openKeepingReads(stack);
    await Promise.all([keeping.untilKept([brandId]), other.untilKept([brandId])]);
    const expected = await daysOf(plain, pastOf(brandId, {}), brandId);
    for (const { pastReads } of [keeping, other])
      expect(await daysOf(pastReads, pastOf(brandId, {}), brandId)).toEqual(expected);
  });

  it(
    'answer right in two processes that read one brand after another, while states are dropped for new ones',
    async () => {
      const asked: { readonly brandId: string; readonly past: PastRead; readonly expected: unknown }[] = [];
      for (const number of [913, 914, 915, 916]) {
        const brandId = await recordBrand(number);
        const times: number[] = [];
        for (const stream of streamsOfBrand(brandId))
          for await (const { recordedAt } of stack.eventStore.read(stream)) times.push(recordedAt.getTime());
        const moments = some([...new Set(times)].toSorted((one, other) => one - other));
        for (const until of [
          {},
          { recordedUntil: new Date('2001-01-01') },
          { observedUntil: new Date(at(DAYS / 2)) },
          ...moments.flatMap((time) => [time - 1, time]).map((time) => ({ recordedUntil: new Date(time) })),
        ]) {
          const past = pastOf(brandId, until);
          asked.push({ brandId, past, expected: await daysOf(plain, past, brandId) });
        }
      }
      // Room for the states of one brand and a half.
      const max = Math.ceil((1.5 * DAYS) / GAP);
      const choices = fc.sample(fc.nat(asked.length - 1), { numRuns: KEPT_READS, seed: KEPT_SEED });
      await Promise.all(
        [0, 1].map(async (process) => {
          await using reads = openKeepingReads(stack, stack.eventStore, max);
          for (const [index, choice] of choices.entries()) {
            const one = index % 2 === process ? asked[choice] : undefined;
            if (one) expect(await daysOf(reads.pastReads, one.past, one.brandId)).toEqual(one.expected);
          }
        }),
      );
    },
    LIMIT_MS,
  );

  it('go on after tables of a state were dropped', async () => {
    const brandId = await recordBrand(905);
    await keeping.untilKept([brandId]);
    const { rows } = await keeping.scratch.query<{ id: number }>(
      'select max(id) as id from public.kept_state',
    );
    await keeping.scratch.query(`drop schema "daily_activity@${rows[0]?.id}" cascade`);
    await daysOf(keeping.pastReads, pastOf(brandId, {}), brandId);
    const expected = await daysOf(plain, pastOf(brandId, {}), brandId);
    expect(await daysOf(keeping.pastReads, pastOf(brandId, {}), brandId)).toEqual(expected);
  });

  it('drop the states of the brand that was least recently read for new ones, and their tables', async () => {
    const [first, second] = [await recordBrand(906), await recordBrand(907)];
    await keeping.untilKept([first]);
    const { rows: states } = await keeping.scratch.query(
      'select from public.kept_state where brand_id = $1',
      [first],
    );
    await using full = openKeepingReads(stack, stack.eventStore, states.length);
    await full.untilKept([second]);
    const { rows } = await full.scratch.query<{ brand_id: string }>(
      'select distinct brand_id from public.kept_state',
    );
    const { rows: schemas } = await full.scratch.query("select from pg_namespace where nspname like 'ads@%'");
    expect({ rows, schemas: schemas.length }).toEqual({
      rows: [{ brand_id: second }],
      schemas: states.length,
    });
  });

  it('answer right while states of another brand are kept by the same process', async () => {
    const [brandId, other] = [await recordBrand(908), await recordBrand(909)];
    await keeping.untilKept([brandId]);
    await using states = openKeptStates(stack.environment['DATABASE_URL'] ?? '', stack.eventStore, {
      log: silentLog(),
      gap: GAP,
    });
    const client = await keeping.scratch.connect();
    // The connection is slow at the marks, as on a busy server.
    const query = async (sql: string, values?: unknown[]) => {
      const found = await client.query(sql, values);
      if (sql.startsWith('select id, marks')) await pause(SLOW_MS);
      return found;
    };
    const find = (by: unknown) =>
      states
        .find(by as never, [brands], streamsOfBrand(brandId))
        .then((found) => found.map(({ marks }) => marks.length));
    const expected = await find(client);
    const during = find({ query });
    states.keep(streamsOfBrand(other), new Map(streamsOfBrand(other).map((stream) => [stream, DAYS])));
    const found = [await during, await find(client)];
    client.release();
    expect(Math.min(...expected)).toBeGreaterThan(0);
    expect(found).toEqual([expected, expected]);
  });

  it('are right about a brand whose states were dropped for those of another brand while they were made', async () => {
    const [first, second, third] = [await recordBrand(910), await recordBrand(911), await recordBrand(912)];
    // Creates the database.
    await daysOf(plain, pastOf(first, {}), first);
    await keeping.scratch.query('delete from public.kept_state');
    const kept = await keeping.untilKept([first]);
    const idsOf = async (brandId: string): Promise<number> => {
      const { rows } = await keeping.scratch.query('select from public.kept_state where brand_id = $1', [
        brandId,
      ]);
      return rows.length;
    };
    // A process makes states of the third brand, and is stopped before the last one.
    const gate = Promise.withResolvers<void>();
    let taken = 0;
    let isKeeping = false;
    const read = async function* (stream: string, after?: bigint, count?: number) {
      for await (const event of stack.eventStore.read<Event>(stream, after, count)) {
        if (isKeeping && count === undefined) taken += 1;
        // The next event of each stream is read ahead.
        if (taken > (kept - 1) * GAP + 2) await gate.promise;
        yield event;
      }
    } as EventStore['read'];
    {
      await using slow = openKeepingReads(stack, { read }, 2 * kept);
      await slow.pastReads.read(pastOf(third, {}), () => Promise.resolve());
      isKeeping = true;
      while ((await idsOf(third)) < kept - 1) await pause(WAIT_MS);
      await keeping.scratch.query('update public.kept_state set read_at = now() where brand_id = $1', [
        first,
      ]);
      {
        await using other = openKeepingReads(stack, stack.eventStore, 2 * kept - 2);
        await other.untilKept([second]);
      }
      expect(await idsOf(third)).toBe(0);
      gate.resolve();
      // Its end awaits the states.
      await pause(SLOW_MS);
    }
    const { answer } = await readElsewhere(third);
    expect(answer).toEqual(await daysOf(plain, pastOf(third, {}), third));
  });
});
