import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { type Reply, on } from '#tests/dsl/api.ts';
import { FEATURES } from '../reference/features.ts';
import { at, scan, shown, worldWith } from '../reference/sketch.ts';
import { place } from '../reference/service/placement.ts';
import type { World } from '../reference/world.ts';
import { worldArbitrary } from '../reference/worlds.ts';
import { untilPassed } from '../stack/read-models.ts';
import { openKeepingReads } from './fixtures/kept-states.ts';
import { type Answer, answerOf, pathsOf, withParameter } from './fixtures/past-answers.ts';
import { type ApiStack, type Key, openApiStack } from './fixtures/stack.ts';

/** A read with `observed_as_of` answers as a service that has no later observation. */
const { AS_OF_WORLDS, AS_OF_SEED } = readSettings(
  z.object({
    AS_OF_WORLDS: z.coerce.number().int().positive().default(2),
    AS_OF_SEED: z.coerce.number().int().default(20_261_130),
  }),
);
const LIMIT_MS = 120_000 + 60_000 * AS_OF_WORLDS;

let full: ApiStack;
let cut: ApiStack;
let app: FastifyInstance;
beforeAll(async () => {
  [full, cut] = await Promise.all([openApiStack(), openApiStack()]);
  app = await full.api({ requestsPerMinute: 1_000_000 });
}, LIMIT_MS);
afterAll(async () => {
  await full[Symbol.asyncDispose]();
  await cut[Symbol.asyncDispose]();
});

const record = async (
  { environment, pool, eventStore }: ApiStack,
  to: FastifyInstance,
  key: Key,
  world: World,
  number: number,
) => {
  const { DATABASE_URL = '', EVENT_STORE_URL = '' } = environment;
  await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
  const placement = place(world, number);
  for (const message of world.observations.flatMap(placement.messagesOf)) await intake.submit(message);
  await untilPassed(pool, await eventStore.head());
  for (const brand of world.brands)
    await on(to).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
      key,
      body: { brand_id: placement.brandIdOf(brand) },
    });
  await untilPassed(pool, await eventStore.head());
};

/** The services differ in the time of tracking, which tells nothing of the world. A brand without a scan is due from this time on. */
const comparable = (answer: Answer): object =>
  JSON.parse(JSON.stringify(answer), (name, value: unknown) => {
    if (name === 'created_at') return null;
    const { as_of, next_due } = (value ?? {}) as { readonly as_of?: unknown; readonly next_due?: unknown };
    return as_of === null && next_due !== undefined ? { ...(value as object), next_due: null } : value;
  }) as object;

/** Profiles in the order of their times: an older one that arrives after a newer one leaves no event. */
const withProfilesInOrder = (world: World): World => {
  const profiles = world.observations.filter(({ kind }) => kind === 'profile');
  const ordered = profiles.toSorted((one, other) => (one.at < other.at ? -1 : 1)).values();
  const observations = world.observations.map((one) =>
    one.kind === 'profile' ? (ordered.next().value ?? one) : one,
  );
  return { ...world, observations };
};

const isBetweenLate = ({ status, error }: Reply): boolean =>
  status === 400 && error.details?.[0]?.code === 'late_observation';

describe('reads with observed_as_of', () => {
  it(
    'answer as if there were no later observations, in generated worlds',
    async () => {
      const worlds = fc.sample(worldArbitrary(FEATURES), { numRuns: AS_OF_WORLDS, seed: AS_OF_SEED });
      await using keeping = openKeepingReads(full);
      const past = await full.api({ requestsPerMinute: 1_000_000, pastReads: keeping.pastReads });
      let answered = 0;
      for (const [index, world] of worlds.map(withProfilesInOrder).entries()) {
        const times = [...new Set(world.observations.map((one) => one.at))].toSorted();
        const moment = times[Math.floor(times.length / 2)] ?? at(1);
        const until = { ...world, observations: world.observations.filter((one) => one.at <= moment) };
        const then = await cut.api({ requestsPerMinute: 1_000_000, clock: { now: () => new Date(moment) } });
        const [key, keyThen] = [await full.key(), await cut.key()];
        await record(full, app, key, world, index + 1);
        await record(cut, then, keyThen, until, index + 1);
        const placement = place(world, index + 1);
        await keeping.untilKept(world.brands.map(placement.brandIdOf));
        const pathsThen = pathsOf(world, placement, keyThen);
        for (const [number, path] of pathsOf(world, placement, key).entries()) {
          const reply = await on(past).get(withParameter(path, 'observed_as_of', moment), { key });
          if (isBetweenLate(reply)) continue;
          const pathThen = pathsThen[number] ?? '';
          const expected = await on(then).get(pathThen, { key: keyThen });
          answered += 1;
          expect(comparable(answerOf(path, reply, moment)), `${path} at ${moment} of world ${index}`).toEqual(
            comparable(answerOf(pathThen, expected, moment)),
          );
        }
      }
      expect(answered).toBeGreaterThan(AS_OF_WORLDS);
    },
    LIMIT_MS,
  );

  it('have what a late scan told, and say so', async () => {
    const world = worldWith(scan('s2', at(3), [shown()]), scan('s1', at(1), [shown()]));
    const key = await full.key();
    await record(full, app, key, world, 901);
    const path = `/v1/brands/${place(world, 901).brandIdOf('b1.example')}/daily-activity`;
    const reply = await on(app).get(withParameter(path, 'observed_as_of', at(3)), { key });
    expect((reply.data as unknown as readonly { readonly date: string }[]).map(({ date }) => date)).toEqual([
      at(1).slice(0, 10),
      at(3).slice(0, 10),
    ]);
    expect(Number(reply.headers['x-as-of-late-events'])).toBeGreaterThan(0);
  });

  it('refuse a moment between a late scan and the newer one that was recorded before it', async () => {
    const world = worldWith(scan('s2', at(3), [shown()]), scan('s1', at(1), [shown()]));
    const key = await full.key();
    await record(full, app, key, world, 902);
    const path = `/v1/brands/${place(world, 902).brandIdOf('b1.example')}`;
    const reply = await on(app).get(withParameter(path, 'observed_as_of', at(2)), { key });
    expect(reply).toMatchObject({
      status: 400,
      error: { details: [{ path: 'observed_as_of', code: 'late_observation' }] },
    });
    expect(reply.error.message).toContain(`send a moment before ${at(1)}, or ${at(3)} or later, or add`);
    expect(reply.error.message).toContain(`brand ${place(world, 902).brandIdOf('b1.example')}`);
  });

  it('refuse a moment before all observations, with the range', async () => {
    const world = worldWith(scan('s1', at(1), [shown()]));
    const key = await full.key();
    await record(full, app, key, world, 903);
    const path = `/v1/brands/${place(world, 903).brandIdOf('b1.example')}`;
    const reply = await on(app).get(withParameter(path, 'observed_as_of', '2001-01-01T00:00:00Z'), { key });
    expect(reply).toMatchObject({
      status: 400,
      error: { details: [{ path: 'observed_as_of', code: 'before_first_event' }] },
    });
    expect(reply.error.message).toContain(`before ${at(1)}`);
  });

  it('take as_of too, and then have only what was recorded by it', async () => {
    const world = worldWith(scan('s1', at(1), [shown()]));
    const key = await full.key();
    const before = new Date().toISOString();
    await record(full, app, key, world, 904);
    const path = `/v1/brands/${place(world, 904).brandIdOf('b1.example')}`;
    const both = withParameter(withParameter(path, 'observed_as_of', at(2)), 'as_of', before);
    expect(await on(app).get(both, { key })).toMatchObject({
      status: 400,
      error: { details: [{ path: 'as_of', code: 'before_first_event' }] },
    });
    const now = withParameter(
      withParameter(path, 'observed_as_of', at(2)),
      'as_of',
      new Date().toISOString(),
    );
    expect(await on(app).get(now, { key })).toMatchObject({ status: 200 });
  });
});
