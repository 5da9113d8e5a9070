import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createLog } from '#platform/logger.ts';
import { inTransaction } from '#platform/postgres/pool.ts';
import { readSettings } from '#platform/settings.ts';
import { untilPassed } from '../stack/read-models.ts';
import { judge } from '../trials/judge.ts';
import { type CountingStack, openCountingStack, WAIT } from './counting-projection.ts';

const { ISOLATION_SECONDS } = readSettings(
  z.object({ ISOLATION_SECONDS: z.coerce.number().int().min(1).default(1) }),
);
const OTHERS = ['calm', 'even', 'still'] as const;
const FAILING = 'failing';
/** Milliseconds until the longest delay between two attempts is over, and the events behind it are applied. */
const HEALED_MS = 100_000;
/** Least share of their rate that the others keep, in the long form: the short form is over before the first retry. */
const RATE_MIN = 0.9;
const LONG_FROM_SECONDS = 60;
const TEST_LIMIT_MS = 120_000 + ISOLATION_SECONDS * 8_000;

let stack: CountingStack;
const lines: string[] = [];
const log = createLog(
  'projector',
  'info',
  new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  }),
);
let projector: ReturnType<CountingStack['running']>;

beforeAll(async () => {
  stack = await openCountingStack();
  projector = stack.running(
    [...OTHERS, FAILING].map((name) => stack.counter(name)),
    log,
  );
  await stack.count('seed', 1);
  await projector.passed();
});
afterAll(async () => {
  await projector[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

const appliedByOthers = async (): Promise<number> => {
  const { rows } = await stack.database.query<{ facts: number }>(
    'select sum(facts_applied)::float8 as facts from projector.projection where name = any($1)',
    [OTHERS],
  );
  return (rows[0]?.facts ?? 0) / OTHERS.length;
};

const appliedShare = async (seconds: number): Promise<number> => {
  const before = await appliedByOthers();
  let appended = 0;
  for (const endMs = performance.now() + seconds * 1_000; performance.now() < endMs; ) {
    await stack.count(`s${appended % 20}`, 1, 2, 3);
    appended += 3;
  }
  return ((await appliedByOthers()) - before) / appended;
};

const rowOf = async () => {
  const { rows } = await stack.database.query<{ state: string; error: string | null }>(
    'select state, error from projector.behind where projection = $1',
    [FAILING],
  );
  return rows[0];
};

const FAULTS: Readonly<Record<string, { error: RegExp; readonly begin: () => Promise<AsyncDisposable> }>> = {
  'its table is locked': {
    error: /lock timeout/,
    begin: async () => {
      const client = await stack.database.connect();
      await client.query('begin');
      await client.query(`lock table ${FAILING}.counter in access exclusive mode`);
      return {
        [Symbol.asyncDispose]: async () => {
          await client.query('rollback');
          client.release();
        },
      };
    },
  },
  'its disk is full': {
    error: /no space/,
    begin: () => failWith(`raise 'no space' using errcode = '53100'`),
  },
  'its statements are cancelled': {
    error: /cancel/,
    begin: () => failWith(`raise 'canceling statement' using errcode = '57014'`),
  },
  'its table lacks a column': {
    error: /column/,
    begin: () => failWith(`raise 'column' using errcode = '42703'`),
  },
};

const failWith = async (statement: string): Promise<AsyncDisposable> => {
  await inTransaction(stack.database, async (client) => {
    await client.query(
      `create or replace function public.fail() returns trigger language plpgsql as $$ begin ${statement}; end $$`,
    );
    await client.query(
      `create trigger fail before insert or update on ${FAILING}.counter for each row execute function public.fail()`,
    );
  });
  return {
    [Symbol.asyncDispose]: async () => {
      await stack.database.query(`drop trigger if exists fail on ${FAILING}.counter`);
    },
  };
};

test.for(Object.entries(FAULTS))(
  'the others go on while %s, and it catches up alone afterwards',
  { timeout: TEST_LIMIT_MS },
  async ([name, { begin, error }], context) => {
    lines.length = 0;
    const usual = await appliedShare(ISOLATION_SECONDS / 4);
    let share: number;
    {
      await using fault = await begin();
      share = await appliedShare(ISOLATION_SECONDS);
      await projector.passed(OTHERS);
      await expect.poll(rowOf, WAIT).toMatchObject({ state: 'failing', error: expect.stringMatching(error) });
      expect((await stack.statusOf(FAILING)).last_error).toMatch(error);
      // The events above may all have been applied before the first failure.
      await stack.count('later', 1);
      await projector.passed(OTHERS);
      expect(await rowOf()).toMatchObject({ state: 'failing' });
      expect(fault).toBeDefined();
    }
    await untilPassed(stack.database, await stack.eventStore.head(), HEALED_MS, [FAILING]);
    await expect.poll(async () => (await rowOf())?.error ?? null, WAIT).toBeNull();
    const restarts = lines.filter((line) => line.includes('interrupted'));
    judge(context, 'restarts of the projector', restarts.length, { equals: 0 });
    expect(restarts).toEqual([]);
    expect((await stack.database.query('select from projector.parked')).rows).toEqual([]);
    expect(await stack.verified(FAILING)).toMatchObject({ state: 'passed' });
    expect(await stack.totals(FAILING)).toEqual(await stack.totals('calm'));
    judge(context, `rate of the others while ${name} for ${ISOLATION_SECONDS} s, as a share`, share / usual, {
      atLeast: RATE_MIN,
      isJudged: ISOLATION_SECONDS >= LONG_FROM_SECONDS,
    });
  },
);

test('a projection that fails keeps its retries over a restart, and poisoned events still park', async () => {
  await using fault = await (FAULTS['its disk is full'] as (typeof FAULTS)[string]).begin();
  await stack.count('seed', 2);
  await expect.poll(rowOf, WAIT).toMatchObject({ state: 'failing' });
  await projector[Symbol.asyncDispose]();
  projector = stack.running(
    [...OTHERS, FAILING].map((name) => stack.counter(name, { fails: (by) => by === 13 && name === 'calm' })),
    log,
  );
  await stack.count('poisoned', 13);
  await projector.passed(OTHERS);
  expect(await rowOf()).toMatchObject({ state: 'failing' });
  await fault[Symbol.asyncDispose]();
  await projector.passed();
  const { rows } = await stack.database.query('select projection, stream from projector.parked');
  expect(rows).toEqual([{ projection: 'calm', stream: 'counted-poisoned' }]);
});
