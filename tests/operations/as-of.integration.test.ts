import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openPastReads } from '#application/as-of/past-reads.ts';
import { scratchNameOf } from '#application/as-of/scratch-database.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { urlOf } from '#tests/stack/database.ts';
import { at, scan, shown, worldWith } from '../reference/sketch.ts';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { on } from '#tests/dsl/api.ts';
import { FEATURES } from '../reference/features.ts';
import { place } from '../reference/service/placement.ts';
import { worldArbitrary } from '../reference/worlds.ts';
import { untilPassed } from '../stack/read-models.ts';
import { everyPage } from './fixtures/boards.ts';
import { openKeepingReads } from './fixtures/kept-states.ts';
import { type Answer, answerOf, pathsOf, withParameter } from './fixtures/past-answers.ts';
import { type ApiStack, openApiStack } from './fixtures/stack.ts';

/** A read with `as_of` answers as the same read did then. AS_OF_WORLDS=500 is the long form. */
const { AS_OF_WORLDS, AS_OF_SEED } = readSettings(
  z.object({
    AS_OF_WORLDS: z.coerce.number().int().positive().default(2),
    AS_OF_SEED: z.coerce.number().int().default(20_261_129),
  }),
);
/** Moments compared in each world. */
const MOMENTS_MAX = 5;
const LIMIT_MS = 120_000 + 60_000 * AS_OF_WORLDS;

let stack: ApiStack;
let app: FastifyInstance;
beforeAll(async () => {
  stack = await openApiStack();
  app = await stack.api({ requestsPerMinute: 1_000_000 });
}, LIMIT_MS);
afterAll(() => stack[Symbol.asyncDispose]());

type Then = { readonly moment: string; readonly answers: readonly Answer[] };
type Fields = Readonly<Record<string, unknown>>;
type Difference = {
  readonly subject: string;
  readonly id: string;
  readonly change: string;
  readonly field: string | null;
  readonly before: unknown;
  readonly after: unknown;
};
type Change = Difference & {
  readonly events: readonly object[];
  readonly events_total: number;
  readonly url: string;
};

const withoutEvents = ({ subject, id, change, field, before, after }: Change): Difference => ({
  subject,
  id,
  change,
  field,
  before,
  after,
});

/** Records by subject and id, in the order of the list of changes. */
const recordsOf = (
  brandId: string,
  answerTo: (path: string) => Answer | undefined,
): ReadonlyMap<string, Fields> => {
  const list = (path: string, name: string, subject: string): [string, Fields][] => {
    const answer = answerTo(`/v1/brands/${brandId}/${path}`);
    const rows = answer?.status === 200 ? (answer.data as unknown as readonly Fields[]) : [];
    return rows.map((row) => [`${subject} ${String(row[name])}`, row]);
  };
  const brand = answerTo(`/v1/brands/${brandId}`);
  return new Map([
    ...(brand?.status === 200 ? [[`brand ${brandId}`, brand.data] as [string, Fields]] : []),
    ...list('daily-activity', 'date', 'day'),
    ...list('ads?limit=100', 'id', 'ad'),
  ]);
};

const SUBJECTS = ['brand', 'day', 'ad'];
/** Fields that grow with each scan. */
const UNTOLD = ['as_of', 'last_ad_seen_at', 'last_seen_at', 'days_active'];

const differences = (
  before: ReadonlyMap<string, Fields>,
  after: ReadonlyMap<string, Fields>,
): readonly Difference[] =>
  SUBJECTS.flatMap((wanted) =>
    [...new Set([...before.keys(), ...after.keys()])].toSorted().flatMap((key): Difference[] => {
      const [subject = '', id = ''] = key.split(' ');
      if (subject !== wanted) return [];
      const [old, now] = [before.get(key), after.get(key)];
      if (!old) return [{ subject, id, change: 'added', field: null, before: null, after: now }];
      if (!now) return [{ subject, id, change: 'removed', field: null, before: old, after: null }];
      return Object.keys(now)
        .filter(
          (field) => !UNTOLD.includes(field) && JSON.stringify(old[field]) !== JSON.stringify(now[field]),
        )
        .map((field) => ({ subject, id, change: 'changed', field, before: old[field], after: now[field] }));
    }),
  );

describe('reads with as_of', () => {
  it(
    'answer what they answered at that moment, in generated worlds',
    async () => {
      const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
      await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
      await using keeping = openKeepingReads(stack);
      const past = await stack.api({ requestsPerMinute: 1_000_000, pastReads: keeping.pastReads });
      const worlds = fc.sample(worldArbitrary(FEATURES), { numRuns: AS_OF_WORLDS, seed: AS_OF_SEED });
      for (const [index, world] of worlds.entries()) {
        const key = await stack.key();
        const placement = place(world, index + 1);
        const paths = pathsOf(world, placement, key);
        const then: Then[] = [];
        const messages = world.observations.flatMap(placement.messagesOf);
        const every = Math.ceil(messages.length / MOMENTS_MAX);
        for (const [step, message] of messages.entries()) {
          await intake.submit(message);
          for (const brand of world.brands)
            await on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, {
              key,
              body: { brand_id: placement.brandIdOf(brand) },
            });
          if (step % every !== 0) continue;
          await untilPassed(stack.pool, await stack.eventStore.head());
          const moment = new Date().toISOString();
          const answers: Answer[] = [];
          for (const path of paths) answers.push(answerOf(path, await on(app).get(path, { key }), moment));
          then.push({ moment, answers });
          await pause(2);
        }
        await keeping.untilKept(world.brands.map(placement.brandIdOf));
        for (const { moment, answers } of then) {
          for (const [number, path] of paths.entries()) {
            const reply = await on(past).get(withParameter(path, 'as_of', moment), { key });
            expect(answerOf(path, reply, moment), `${path} at ${moment} of world ${index}`).toEqual(
              answers[number],
            );
          }
        }
        const [since, until] = [then[0], then.at(-1)];
        if (!since || !until || since === until) continue;
        for (const id of world.brands.map(placement.brandIdOf)) {
          const path = `/v1/brands/${id}/changes?since=${since.moment}&until=${until.moment}`;
          const reply = await on(past).get(path, { key });
          const changes = reply.status === 200 ? await everyPage<Change>(past, key, path, 7) : [];
          const recordsAt = ({ answers }: Then) => recordsOf(id, (wanted) => answers[paths.indexOf(wanted)]);
          expect(changes.map(withoutEvents), path).toEqual(differences(recordsAt(since), recordsAt(until)));
        }
      }
    },
    LIMIT_MS,
  );

  it('say how many events were recorded too late to count', async () => {
    const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
    await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
    const world = worldWith(scan('s2', at(3), [shown()]), scan('s1', at(1), [shown()]));
    const { brandIdOf, messagesOf } = place(world, 900);
    const [newest = [], late = []] = world.observations.map(messagesOf);
    const key = await stack.key();
    const path = `/v1/brands/${brandIdOf('b1.example')}/daily-activity`;
    for (const message of newest) await intake.submit(message);
    const moment = new Date().toISOString();
    await pause(2);
    for (const message of late) await intake.submit(message);
    await untilPassed(stack.pool, await stack.eventStore.head());
    const past = await on(app).get(withParameter(path, 'as_of', moment), { key });
    const present = await on(app).get(withParameter(path, 'as_of', new Date().toISOString()), { key });
    expect([past.data, present.data].map((days: object[]) => days.length)).toEqual([1, 2]);
    expect(Number(past.headers['x-as-of-late-events'])).toBeGreaterThan(0);
    expect(present.headers['x-as-of-late-events']).toBe('0');
    expect(Number(present.headers['x-as-of-events'])).toBe(
      Number(past.headers['x-as-of-events']) + Number(past.headers['x-as-of-late-events']),
    );
  });

  it('refuse a moment before the registration of the brand, with the range', async () => {
    const [brand] = await stack.seed(['unregistered-then']);
    const key = await stack.key();
    const then = new Date(Date.now() - 3_600_000).toISOString();
    expect(await on(app).get(`/v1/brands/${brand?.id}?as_of=${then}`, { key })).toMatchObject({
      status: 400,
      error: { details: [{ path: 'as_of', code: 'before_first_event' }] },
    });
    expect(await on(app).get(`/v1/brands/${brand?.id}`, { key })).toMatchObject({ status: 200 });
  });

  it('say as rows, too, on how many events they rest', async () => {
    const [brand] = await stack.seed(['as-rows']);
    const key = await stack.key();
    const { headers } = await app.inject({
      url: `/v1/brands/${brand?.id}/ads?as_of=${new Date().toISOString()}`,
      headers: { authorization: `Bearer ${key.text}`, accept: 'text/csv' },
    });
    expect(headers).toMatchObject({ 'x-as-of-events': '9', 'x-as-of-late-events': '0' });
  });

  it('refuse a moment to come', async () => {
    const key = await stack.key();
    const reply = await on(app).get(`/v1/brands/${randomUUID()}?as_of=2900-01-01T00:00:00Z`, { key });
    expect(reply).toMatchObject({
      status: 400,
      error: { details: [{ path: 'as_of', code: 'moment_in_future' }] },
    });
  });

  it('run one after the other over processes, and keep no row', async () => {
    const [brand] = await stack.seed(['one-by-one']);
    const key = await stack.key();
    const apps = [app, await stack.api({ requestsPerMinute: 1_000_000 })];
    const moment = new Date().toISOString();
    const path = `/v1/brands/${brand?.id}/ads?as_of=${moment}`;
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, index) => on(apps[index % 2] ?? app).get(path, { key })),
    );
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(new Set(replies.map(({ data }) => JSON.stringify(data))).size).toBe(1);
    const { DATABASE_URL = '' } = stack.environment;
    const scratch = openPool(urlOf(scratchNameOf(DATABASE_URL)), 1);
    const { rows } = await scratch.query('select from ads.ad');
    await scratch.end();
    expect(rows).toEqual([]);
  });

  it('differ by workspace also when they are sent at once', async () => {
    const [brand] = await stack.seed(['tracked-by-one']);
    const [tracking, other] = [await stack.key(), await stack.key()];
    const body = { brand_id: brand?.id, cadence: 'daily' };
    await on(app).post(`/v1/workspaces/${tracking.workspaceId}/tracked-brands`, { key: tracking, body });
    const path = `/v1/brands/${brand?.id}?as_of=${new Date().toISOString()}`;
    // Keys that are known are let in without a wait, so both reads run in one iteration of the event loop.
    for (const key of [tracking, other]) await on(app).get('/v1/me', { key });
    const replies = await Promise.all([tracking, other].map((key) => on(app).get(path, { key })));
    expect(replies.map(({ meta }) => meta.freshness)).toMatchObject([
      { freshness_tier: 'daily' },
      { freshness_tier: 'census' },
    ]);
  });

  it('go on after their database was dropped, or its tables were changed', async () => {
    const [brand] = await stack.seed(['dropped']);
    const key = await stack.key();
    const read = async () =>
      (await on(app).get(`/v1/brands/${brand?.id}/ads?as_of=${new Date().toISOString()}`, { key })).status;
    expect(await read()).toBe(200);
    const name = scratchNameOf(stack.environment['DATABASE_URL'] ?? '');
    const scratch = openPool(urlOf(name), 1);
    await scratch.query('alter table ads.ad drop column body cascade');
    await scratch.end();
    expect([await read(), await read()]).toEqual([500, 200]);
    await stack.pool.query(`drop database ${name} with (force)`);
    expect(await read()).toBe(200);
  });

  it('wait for one another, and not in the places of searches', async () => {
    const [brand] = await stack.seed(['held']);
    const keys = await Promise.all(Array.from({ length: 8 }, () => stack.key()));
    const scratch = openPool(urlOf(scratchNameOf(stack.environment['DATABASE_URL'] ?? '')), 1);
    const held = await scratch.connect();
    await held.query('begin; lock table ads.ad in access exclusive mode');
    const moment = new Date().toISOString();
    const waiting = keys
      .slice(1)
      .map((key) => on(app).get(`/v1/brands/${brand?.id}/ads?as_of=${moment}`, { key }));
    await pause(100);
    const search = await on(app).get('/v1/ads?q=words', { key: keys[0] ?? '' });
    await held.query('rollback');
    held.release();
    await scratch.end();
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect([search.status, ...new Set(statuses)]).toEqual([200, 200]);
  });

  it('have more time than a light read', async () => {
    const [brand] = await stack.seed(['slow-past']);
    const key = await stack.key();
    const hurried = await stack.api({ readAnswerMs: 100 });
    const scratch = openPool(urlOf(scratchNameOf(stack.environment['DATABASE_URL'] ?? '')), 1);
    const held = await scratch.connect();
    await held.query('begin; lock table ads.ad in access exclusive mode');
    const reading = on(hurried).get(`/v1/brands/${brand?.id}/ads?as_of=${new Date().toISOString()}`, { key });
    await pause(800);
    await held.query('rollback');
    held.release();
    await scratch.end();
    expect((await reading).status).toBe(200);
  });

  it('tell the operator what is missing when the role may not create the database', async () => {
    const role = `no_creator_${randomBytes(4).toString('hex')}`;
    await stack.pool.query(`create role ${role} login password '${role}'`);
    const url = new URL(stack.environment['DATABASE_URL'] ?? '');
    [url.username, url.password] = [role, role];
    const pool = openPool(url.href, 1);
    const elsewhere = new URL(url);
    elsewhere.pathname = '/never_created';
    await using pastReads = openPastReads(elsewhere.href, pool, stack.eventStore);
    const poor = await stack.api({ pastReads });
    const [brand] = await stack.seed(['no-database']);
    const reply = await on(poor).get(`/v1/brands/${brand?.id}?as_of=${new Date().toISOString()}`, {
      key: await stack.key(),
    });
    await pool.end();
    await stack.pool.query(`drop role ${role}`);
    expect(reply).toMatchObject({ status: 503 });
    expect(reply.error.message).toContain('never_created_as_of');
  });
});

const hourAgo = (): string => new Date(Date.now() - 3_600_000).toISOString();

describe('listBrandChanges 200', () => {
  it('tells each difference with the events that were recorded between', async () => {
    const before = hourAgo();
    const [brand] = await stack.seed(['changed']);
    const path = `/v1/brands/${brand?.id}/changes?limit=100&since=${before}`;
    const { data, meta } = await on(app).get(path, { key: await stack.key() });
    const changes = data as readonly Change[];
    expect(meta.count).toBe(changes.length);
    expect(changes.map(({ subject, change }) => `${subject} ${change}`)).toEqual([
      'brand added',
      'day added',
      'day added',
      ...(brand?.adIds ?? []).map(() => 'ad added'),
    ]);
    const [ofBrand, , ofDay, ofAd] = changes;
    expect(ofBrand?.events_total).toBe(9);
    expect(ofBrand?.events).toHaveLength(ofBrand?.events_total ?? 0);
    expect(ofDay?.events.at(0)).toMatchObject({ type: 'ScanRecorded', stream: `adLibrary-${brand?.id}` });
    expect(ofAd).toMatchObject({ events: [{ type: 'AdDestinationChanged' }, { type: 'AdStarted' }] });
  });

  it('has no change while nothing was recorded', async () => {
    const [brand] = await stack.seed(['unchanged']);
    await pause(2);
    const now = new Date().toISOString();
    await pause(2);
    const reply = await on(app).get(`/v1/brands/${brand?.id}/changes?since=${now}`, {
      key: await stack.key(),
    });
    expect(reply).toMatchObject({ status: 200, data: [] });
  });
});

describe('listBrandChanges 400', () => {
  it.each([
    ['without the earlier moment', '', 'since', 'custom'],
    ['with reversed moments', `since=2026-02-02T00:00:00Z&until=2026-02-01T00:00:00Z`, 'since', 'custom'],
    ['with a moment to come', 'since=2900-01-01T00:00:00Z', 'since', 'moment_in_future'],
    [
      'with a later moment to come',
      `since=${hourAgo()}&until=2900-01-01T00:00:00Z`,
      'until',
      'moment_in_future',
    ],
  ])('%s', async (_, query, path, code) => {
    const [brand] = await stack.seed([`refused-${randomUUID()}`]);
    const reply = await on(app).get(`/v1/brands/${brand?.id}/changes?${query}`, { key: await stack.key() });
    expect(reply).toMatchObject({ status: 400, error: { details: [{ path, code }] } });
  });
});

describe('listBrandChanges 404', () => {
  it('for a brand that is unknown', async () => {
    const path = `/v1/brands/${randomUUID()}/changes?since=${hourAgo()}`;
    expect(await on(app).get(path, { key: await stack.key() })).toMatchObject({ status: 404 });
  });
});
