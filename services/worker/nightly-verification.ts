import { Cron } from 'croner';
import { checkInvariants } from '#application/invariants/check-invariants.ts';
import { MINUTE_MS } from '#contracts/values/time.ts';
import { systemClock } from '#platform/clock.ts';
import type { Log } from '#platform/logger.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { INVARIANTS } from '#projections/queries/invariants.ts';

/** Wait for read models that are behind the log. */
const WAIT_MS = 10 * MINUTE_MS;
/** Violations are looked up again after this time. A scan of the largest brands is recorded within it. */
const RECHECK_MS = MINUTE_MS;

type Options = { readonly database: Database; readonly log: Log; readonly signal: AbortSignal };

/** Checks the figures of all brands against each other, and logs what does not agree. */
export const verifyFigures = async (
  { database, log, signal }: Options,
  { waitMs, recheckMs } = { waitMs: WAIT_MS, recheckMs: RECHECK_MS },
): Promise<void> => {
  const options = { invariants: INVARIANTS, clock: systemClock, waitMs, recheckMs, signal };
  const { holds, left_out, invariants } = await checkInvariants(database, options);
  for (const { name, rule, state, reason, violations, first, remedy } of invariants) {
    if (state === 'violated')
      log.error({ invariant: name, rule, violations, first, remedy }, 'figures disagree');
    if (state === 'not_checked') log.warn({ invariant: name, reason }, 'figures not checked');
  }
  if (holds) log.info({ invariants: invariants.length, left_out }, 'figures verified');
};

/** Verifies the figures on schedule. A failure is logged; the next run follows on schedule. */
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
