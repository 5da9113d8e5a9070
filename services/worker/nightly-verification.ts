import { Cron } from 'croner';
import { checkInvariants } from '#application/invariants/check-invariants.ts';
import { claimVerification, storeVerification } from '#application/invariants/verification-record.ts';
import { MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';
import { systemClock } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { INVARIANTS } from '#projections/queries/invariants.ts';

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
