import { expect, test } from 'vitest';
import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { pause } from '#platform/clock.ts';
import { createLightReads } from '#operations/dependencies/light-reads.ts';
import { TimeUsedUp, untilTimeUsedUp, withTimeBudget } from '#platform/concurrency/time-budget.ts';

const NEVER = new Promise<never>(() => undefined);
const READ_MS = 20;
/** Longer than any test. */
const REQUEST_MS = 600_000;

/** A database that never answers. The text of a statement is its speed. */
const silent: ReadDatabase = {
  query: () => untilTimeUsedUp(NEVER),
  slow: () => untilTimeUsedUp(NEVER),
  speedOf: (sql) => sql as 'fast' | 'slow' | 'unknown',
};

const statement = (speed: string): ReadQuery => ({ sql: speed, values: [] });

type Read = (db: ReadDatabase) => Promise<unknown>;

/** Returns whether a read of a request has ended some time after its limit. */
const hasEnded = (answerWithinMs: number | null, read: Read): Promise<boolean> =>
  withTimeBudget(REQUEST_MS, () => {
    const reading = read(createLightReads(answerWithinMs).of(silent)).then(
      () => expect.fail('the database answered'),
      (error: unknown) => {
        expect(error).toBeInstanceOf(TimeUsedUp);
        return true;
      },
    );
    return Promise.race([reading, pause(3 * READ_MS).then(() => false)]);
  });

test.for(['fast', 'unknown'])('a read that is %s ends long before its request', async (speed) => {
  expect(await hasEnded(READ_MS, (db) => db.query(statement(speed)))).toBe(true);
});

test.for<[string, Read]>([
  ['a slow read', (db) => db.query(statement('slow'))],
  ['a search', (db) => db.slow(statement('fast'))],
])('%s may take the time of its request', async ([, read]) => {
  expect(await hasEnded(READ_MS, read)).toBe(false);
});

test('without a limit, every read may take the time of its request', async () => {
  expect(await hasEnded(null, (db) => db.query(statement('fast')))).toBe(false);
});
