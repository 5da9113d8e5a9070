import { Cron } from 'croner';
import { pause, systemClock } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import { type Database, inTransaction } from '#platform/postgres/pool.ts';
import { rewriteNewAdvertisers } from '#projections/new-advertisers/rewrite.ts';
import {
  checkInvariants,
  claimVerification,
  storeVerification,
} from '#application/invariants/check-invariants.ts';
import { MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';
import { INVARIANTS } from '#projections/queries/invariants.ts';

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

type Times = {
  readonly waitMs: number;
  /** Delay before violations are read again: the largest scan is recorded within it. */
  readonly recheckMs: number;
  /** Timeout of a verification. Until then no other process starts one. */
  readonly limitMs: number;
};
const TIMES: Times = { waitMs: 10 * MINUTE_MS, recheckMs: MINUTE_MS, limitMs: 30 * MINUTE_MS };

type Options = { readonly database: Database; readonly log: Log; readonly signal: AbortSignal };

const check = async ({ database, log }: Options, times: Times, signal: AbortSignal): Promise<void> => {
  const options = { ...times, invariants: INVARIANTS, clock: systemClock, signal };
  const report = await checkInvariants(database, options);
  const { holds, left_out, invariants } = report;
  for (const { name, rule, state, reason, violations, first, remedy } of invariants) {
    if (state === 'violated')
      log.error({ invariant: name, rule, violations, first, remedy }, 'figures disagree');
    if (state === 'not_checked') log.warn({ invariant: name, reason }, 'figures not checked');
  }
  if (holds) log.info({ invariants: invariants.length, left_out }, 'figures verified');
  await storeVerification(database, { report });
};

/** Stores a report for operators. Does nothing while another process verifies. Throws on failure or timeout. */
export const verifyFigures = async (options: Options, times: Times = TIMES): Promise<void> => {
  const { database, log, signal } = options;
  if (!(await claimVerification(database, times.limitMs))) {
    log.debug('verification of figures left to another process');
    return;
  }
  const limit = AbortSignal.timeout(times.limitMs);
  try {
    await check(options, times, AbortSignal.any([signal, limit]));
  } catch (error) {
    const reason = limit.aborted ? `not finished within ${times.limitMs / SECOND_MS} seconds` : String(error);
    await storeVerification(database, { error: reason });
    throw error;
  }
};

export const scheduleVerification = ({
  cron,
  ...options
}: Options & { readonly cron: string }): Disposable => {
  const { log, signal } = options;
  const job = new Cron(cron, { timezone: 'UTC', protect: true }, async () => {
    try {
      await verifyFigures(options);
    } catch (error) {
      if (!signal.aborted) log.error({ err: error }, 'verification of figures failed');
    }
  });
  return { [Symbol.dispose]: () => job.stop() };
};
