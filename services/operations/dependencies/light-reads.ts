import type { ReadDatabase, ReadQuery } from '#contracts/ports/read-database.ts';
import { withinTimeOfArrival } from '#platform/concurrency/time-budget.ts';

/**
 * Ends the waits of a request for its light reads together. While Postgres is silent, a caller gets 503 within the same
 * time, however many reads its reply needs.
 */
export type LightReads = {
  /** Returns the database with the limit for each statement that is not known to be slow. It throws `TimeUsedUp`. */
  of(db: ReadDatabase): ReadDatabase;
  /** Runs work that reads only so. */
  within<T>(work: () => Promise<T>): Promise<T>;
};

/** `answerWithinMs`: milliseconds from the arrival of a request; without a limit when `null`. */
export const createLightReads = (answerWithinMs: number | null): LightReads => {
  if (answerWithinMs === null) return { of: (db) => db, within: (work) => work() };
  const within = <T>(work: () => Promise<T>): Promise<T> => withinTimeOfArrival(answerWithinMs, work);
  return {
    of: (db) => ({
      ...db,
      query: <Row>(statement: ReadQuery) => {
        const read = (): Promise<readonly Row[]> => db.query<Row>(statement);
        return db.speedOf?.(statement.sql) === 'slow' ? read() : within(read);
      },
    }),
    within,
  };
};
