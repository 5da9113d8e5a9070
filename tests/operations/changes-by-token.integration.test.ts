import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { pause } from '#platform/clock.ts';
import { readSettings } from '#platform/settings.ts';
import { openIntake } from '#services/ingest/intake/observation-handler.ts';
import { createCursors } from '#operations/dependencies/cursors.ts';
import { on } from '#tests/dsl/api.ts';
import { FEATURES } from '../reference/features.ts';
import { place } from '../reference/service/placement.ts';
import { at, scan, shown, worldWith } from '../reference/sketch.ts';
import { worldArbitrary } from '../reference/worlds.ts';
import { untilPassed } from '../stack/read-models.ts';
import { type ApiStack, type Key, openApiStack } from './fixtures/stack.ts';

/** Calls that go on from each other's tokens list what a comparison of two moments lists. CHANGES_WORLDS=200 is the long form. */
const { CHANGES_WORLDS, CHANGES_SEED } = readSettings(
  z.object({
    CHANGES_WORLDS: z.coerce.number().int().positive().default(2),
    CHANGES_SEED: z.coerce.number().int().default(20_261_130),
  }),
);
const LIMIT_MS = 120_000 + 20_000 * CHANGES_WORLDS;
/** Apart from the ones of other tests, which place their worlds in the same log. */
const FIRST_PLACE = 500;

let stack: ApiStack;
let app: FastifyInstance;
beforeAll(async () => {
  stack = await openApiStack();
  app = await stack.api({ requestsPerMinute: 1_000_000 });
}, LIMIT_MS);
afterAll(() => stack[Symbol.asyncDispose]());

type Fields = Readonly<Record<string, unknown>>;
type Change = {
  readonly brand?: { readonly id: string };
  readonly subject: string;
  readonly id: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly field: string | null;
  readonly before: unknown;
  readonly after: unknown;
};

const PAGE = 7;
const hourAgo = (): string => new Date(Date.now() - 3_600_000).toISOString();

/** All pages of a call, and the token of the last. */
/** As in `cursors.ts`, and of the test stack. */
const SIGNATURE_BYTES = 16;
const CURSOR_SECRET = 'a secret for tests only';

const call = async (key: Key, path: string, from: string) => {
  const changes: Change[] = [];
  for (let cursor = ''; ; ) {
    const reply = await on(app).get(`${path}?limit=${PAGE}&${from}${cursor}`, { key });
    expect(reply, JSON.stringify(reply.error)).toMatchObject({ status: 200 });
    changes.push(...(reply.data as readonly Change[]));
    const token = reply.headers['x-next-since-token'];
    expect(token === undefined).toBe(reply.meta.cursor !== undefined);
    if (reply.meta.cursor === undefined) return { changes, next: `since_token=${String(token)}` };
    cursor = `&cursor=${reply.meta.cursor}`;
  }
};

/** Fields that grow with each scan. */
const UNTOLD = ['as_of', 'last_ad_seen_at', 'last_seen_at', 'days_active'];
const told = (record: unknown): Fields =>
  Object.fromEntries(Object.entries(record as Fields).filter(([name]) => !UNTOLD.includes(name)));

/** Records after the changes. Each change must fit to the record that the earlier ones have left. */
const apply = (records: Map<string, Fields>, changes: readonly Change[]): void => {
  for (const { brand, subject, id, change, field, before, after } of changes) {
    const name = `${brand?.id ?? ''} ${subject} ${id}`;
    const record = records.get(name);
    if (change === 'added') {
      expect(record, `added twice: ${name}`).toBeUndefined();
      records.set(name, told(after));
      continue;
    }
    expect(record, `changed before it was added: ${name}`).toBeDefined();
    if (change === 'removed') {
      expect(record).toEqual(told(before));
      records.delete(name);
      continue;
    }
    expect(record?.[String(field)], `${name} ${field}`).toEqual(before);
    records.set(name, { ...record, [String(field)]: after });
  }
};

describe('calls with the token of the one before', () => {
  it(
    'list each difference of two replays once, while events are recorded, in generated worlds',
    async () => {
      const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
      await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
      const worlds = fc.sample(worldArbitrary(FEATURES), { numRuns: CHANGES_WORLDS, seed: CHANGES_SEED });
      for (const [index, world] of worlds.entries()) {
        const key = await stack.key();
        const placement = place(world, FIRST_PLACE + index);
        const messages = world.observations.flatMap(placement.messagesOf);
        const half = Math.ceil(messages.length / 2);
        for (const message of messages.slice(0, half)) await intake.submit(message);
        const tracked: string[] = [];
        for (const id of world.brands.map(placement.brandIdOf)) {
          const body = { brand_id: id };
          const path = `/v1/workspaces/${key.workspaceId}/tracked-brands`;
          const { status } = await on(app).post(path, { key, body });
          if (status === 201) tracked.push(id);
        }
        await untilPassed(stack.pool, await stack.eventStore.head());
        const paths = [
          `/v1/workspaces/${key.workspaceId}/changes`,
          ...tracked.map((id) => `/v1/brands/${id}/changes`),
        ];
        const start = hourAgo();
        const followed = paths.map((path) => ({
          path,
          from: `since=${start}`,
          records: new Map<string, Fields>(),
        }));
        const goOn = async (): Promise<void> => {
          for (const one of followed) {
            const { changes, next } = await call(key, one.path, one.from);
            apply(one.records, changes);
            one.from = next;
          }
        };
        const recorded = new AbortController();
        const record = async (): Promise<void> => {
          for (const message of messages.slice(half)) await intake.submit(message);
        };
        const recording = record().finally(() => recorded.abort());
        while (!recorded.signal.aborted) await goOn();
        await recording;
        await goOn();
        for (const { path, records, from } of followed) {
          const whole = new Map<string, Fields>();
          apply(whole, (await call(key, path, `since=${start}`)).changes);
          expect(records, `${path} of world ${index}`).toEqual(whole);
          expect((await call(key, path, from)).changes).toEqual([]);
        }
        // The list of the workspace is those of its brands.
        const [all, ...each] = followed.map(({ records }) => records);
        const named = each.flatMap((records, nth) =>
          [...records].map(([name, fields]) => [`${tracked[nth]}${name}`, fields] as const),
        );
        expect(all).toEqual(new Map(named));
      }
    },
    LIMIT_MS,
  );
});

const changesOf = ({ workspaceId }: Key): string => `/v1/workspaces/${workspaceId}/changes`;
const track = (key: Key, brandId: string | undefined) =>
  on(app).post(`/v1/workspaces/${key.workspaceId}/tracked-brands`, { key, body: { brand_id: brandId } });

describe('listWorkspaceChanges 200', () => {
  it('has the brands that were tracked at the later moment, each with its reference', async () => {
    const start = hourAgo();
    const [one, other, untracked] = await stack.seed(['ws-one', 'ws-other', 'ws-untracked']);
    const key = await stack.key();
    await track(key, one?.id);
    await pause(2);
    const between = new Date().toISOString();
    await pause(2);
    await track(key, other?.id);
    const brandsOf = async (from: string) =>
      new Set((await call(key, changesOf(key), from)).changes.map(({ brand }) => brand?.id));
    expect(await brandsOf(`since=${start}&until=${between}`)).toEqual(new Set([one?.id]));
    expect(await brandsOf(`since=${start}`)).toEqual(new Set([one?.id, other?.id]));
    expect(await brandsOf(`since=${start}`)).not.toContain(untracked?.id);
    const reply = await on(app).get(`/v1/brands/${one?.id}/changes?since=${start}&limit=100`, { key });
    const { changes } = await call(key, changesOf(key), `since=${start}&until=${between}`);
    expect(changes).toEqual(
      (reply.data as readonly Change[]).map((change) => ({ ...change, brand: changes[0]?.brand })),
    );
    expect(changes[0]?.brand).toMatchObject({ id: one?.id, slug: 'ws-one' });
  });

  it('goes on from a call with a past `until` without a gap', async () => {
    const { DATABASE_URL = '', EVENT_STORE_URL = '' } = stack.environment;
    await using intake = await openIntake({ databaseUrl: DATABASE_URL, eventStoreUrl: EVENT_STORE_URL });
    const world = worldWith(scan('s1', at(1), [shown()]), scan('s2', at(3), [shown()]));
    const { brandIdOf, messagesOf } = place(world, FIRST_PLACE - 1);
    const [first = [], second = []] = world.observations.map(messagesOf);
    const key = await stack.key();
    for (const message of first) await intake.submit(message);
    await track(key, brandIdOf('b1.example'));
    await pause(2);
    const until = new Date().toISOString();
    await pause(2);
    for (const message of second) await intake.submit(message);
    const path = changesOf(key);
    const records = new Map<string, Fields>();
    const past = await call(key, path, `since=${hourAgo()}&until=${until}`);
    apply(records, past.changes);
    const present = await call(key, path, past.next);
    expect(present.changes.length).toBeGreaterThan(0);
    apply(records, present.changes);
    const whole = new Map<string, Fields>();
    apply(whole, (await call(key, path, `since=${hourAgo()}`)).changes);
    expect(records).toEqual(whole);
  });

  it('has the token with rows, too', async () => {
    const [brand] = await stack.seed(['ws-rows']);
    const key = await stack.key();
    await track(key, brand?.id);
    const { headers, body } = await app.inject({
      url: `${changesOf(key)}?since=${hourAgo()}&limit=1`,
      headers: { authorization: `Bearer ${key.text}`, accept: 'application/x-ndjson' },
    });
    expect(body.trim().split('\n').length).toBe(7);
    expect(
      (await call(key, changesOf(key), `since_token=${String(headers['x-next-since-token'])}`)).changes,
    ).toEqual([]);
  });

  it('is empty for a workspace that tracks nothing', async () => {
    const key = await stack.key();
    expect((await call(key, changesOf(key), `since=${hourAgo()}`)).changes).toEqual([]);
  });
});

describe('listWorkspaceChanges 400', () => {
  it.each([
    ['without a moment', '', 'since', 'custom'],
    ['with a moment and a token', `since=${hourAgo()}&since_token=a`, 'since', 'custom'],
    ['with a token and a later moment', `since_token=a&until=${hourAgo()}`, 'until', 'custom'],
    ['with a forged token', 'since_token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'since_token', 'invalid_token'],
    ['with a moment to come', 'since=2900-01-01T00:00:00Z', 'since', 'moment_in_future'],
  ])('%s', async (_, query, path, code) => {
    const key = await stack.key();
    const reply = await on(app).get(`${changesOf(key)}?${query}`, { key });
    expect(reply).toMatchObject({ status: 400, error: { details: [{ path, code }] } });
  });

  it('with a token of a log that was restored and has grown beyond it', async () => {
    const [brand] = await stack.seed(['token-of-lost-log']);
    const key = await stack.key();
    await track(key, brand?.id);
    const { next } = await call(key, changesOf(key), `since=${hourAgo()}`);
    const [, token = ''] = next.split('=');
    const [, , time, position, mark] = JSON.parse(
      Buffer.from(token, 'base64url').subarray(SIGNATURE_BYTES).toString(),
    ) as readonly string[];
    // A place between two events, where the lost log had one.
    const lost = createCursors(CURSOR_SECRET).sign(
      JSON.stringify(['since_token', 'listWorkspaceChanges', key.workspaceId, null]),
      [time ?? '', String(Number(position) - 1), mark ?? ''],
    );
    expect(await on(app).get(`${changesOf(key)}?since_token=${lost}`, { key })).toMatchObject({
      status: 400,
      error: { details: [{ path: 'since_token', code: 'invalid_token' }] },
    });
  });

  it('about a brand, with a later moment before its first event', async () => {
    const [brand] = await stack.seed(['until-early']);
    const key = await stack.key();
    const window = 'since=2001-01-01T00:00:00Z&until=2001-01-02T00:00:00Z';
    const reply = await on(app).get(`/v1/brands/${brand?.id}/changes?${window}`, { key });
    expect(reply).toMatchObject({
      status: 400,
      error: { details: [{ path: 'until', code: 'before_first_event' }] },
    });
    expect(reply.error.message).toMatch(/send a moment from then until 20/);
  });

  it('with a token of another workspace, endpoint or brand, or a cursor', async () => {
    const [brand, neighbour] = await stack.seed(['token-of-one', 'token-of-other']);
    const [key, other] = [await stack.key(), await stack.key()];
    await track(key, brand?.id);
    const brandPath = `/v1/brands/${brand?.id}/changes`;
    const ofWorkspace = await call(key, changesOf(key), `since=${hourAgo()}`);
    const ofBrand = await call(key, brandPath, `since=${hourAgo()}`);
    const page = await on(app).get(`${changesOf(key)}?since=${hourAgo()}&limit=1`, { key });
    const altered = ofWorkspace.next.slice(0, -1) + (ofWorkspace.next.endsWith('A') ? 'B' : 'A');
    for (const [caller, path, from] of [
      [other, changesOf(other), ofWorkspace.next],
      [other, brandPath, ofBrand.next],
      [key, changesOf(key), ofBrand.next],
      [key, brandPath, ofWorkspace.next],
      [key, `/v1/brands/${neighbour?.id}/changes`, ofBrand.next],
      [key, changesOf(key), altered],
      [key, changesOf(key), `since_token=${page.meta.cursor}`],
    ] as const) {
      const reply = await on(app).get(`${path}?${from}`, { key: caller });
      expect(reply, `${path}?${from}`).toMatchObject({
        status: 400,
        error: { details: [{ path: 'since_token', code: 'invalid_token' }] },
      });
      expect(reply.error.message).toContain('Send `since` instead');
    }
  });
});

describe('a token', () => {
  it('of a log that was replaced, or restored from an older copy, is refused', async () => {
    const key = await stack.key();
    const { next } = await call(key, changesOf(key), `since=${hourAgo()}`);
    const signed = Buffer.from(next.replace('since_token=', ''), 'base64url').subarray(16);
    const [, , time, position, mark] = JSON.parse(signed.toString()) as string[];
    const cursors = createCursors(CURSOR_SECRET);
    const scope = JSON.stringify(['since_token', 'listWorkspaceChanges', key.workspaceId, null]);
    const statusOf = async (...values: readonly (string | undefined)[]) => {
      const token = cursors.sign(scope, values as string[]);
      return (await on(app).get(`${changesOf(key)}?since_token=${token}`, { key })).status;
    };
    expect(await statusOf(time, position, mark)).toBe(200);
    expect(await statusOf(time, position, `${mark}1`)).toBe(400);
    expect(await statusOf(time, `${position}000`, mark)).toBe(400);
  });
});

describe('listWorkspaceChanges 404', () => {
  it('for another workspace', async () => {
    const [key, other] = [await stack.key(), await stack.key()];
    expect(await on(app).get(`${changesOf(other)}?since=${hourAgo()}`, { key })).toMatchObject({
      status: 404,
    });
  });
});
