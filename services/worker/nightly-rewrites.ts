import { Cron } from 'croner';
import { pause } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { rewriteNewAdvertisers } from '#projections/new-advertisers/rewrite.ts';

/** A list older than this is rewritten when the worker starts. */
const OVERDUE_HOURS = 24;
const RETRY_MS = 5_000;
const ATTEMPTS_MAX = 60;

const rewrite = (database: Database): Promise<void> =>
  inTransaction(database, (client) => rewriteNewAdvertisers(client));

const isOverdue = async (database: Database): Promise<boolean> => {
  const table = await database.query<{ is_present: boolean }>(
    `select to_regclass('nightly.rewrite') is not null as is_present`,
  );
  if (!table.rows[0]?.is_present) return true;
  const { rows } = await database.query(
    `select from nightly.rewrite where name = 'new-advertisers' and as_of is not null
       and rewritten_at > now() - interval '${OVERDUE_HOURS} hours'`,
  );
  return rows.length === 0;
};

export const scheduleRewrites = (options: {
  readonly database: Database;
  readonly cron: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}): Disposable => {
  const { database, cron, log, signal } = options;
  let running = false;
  const run = async (): Promise<void> => {
    if (running) return;
    running = true;
    try {
      for (let attempt = 0; attempt < ATTEMPTS_MAX && !signal.aborted; attempt += 1) {
        try {
          await rewrite(database);
          log.info({ list: 'new-advertisers' }, 'nightly list rewritten');
          return;
        } catch (error) {
          log.warn({ err: error, attempt }, 'nightly rewrite failed; retrying');
          await pause(RETRY_MS, signal);
        }
      }
    } finally {
      running = false;
    }
  };
  const job = new Cron(cron, { timezone: 'UTC' }, () => void run());
  const catchUp = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        if (await isOverdue(database)) await run();
        return;
      } catch (error) {
        log.debug({ err: error }, 'database not reachable; retrying');
        await pause(RETRY_MS, signal);
      }
    }
  };
  void catchUp();
  return { [Symbol.dispose]: () => job.stop() };
};
