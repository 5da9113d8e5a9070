import { pause } from '#platform/clock.ts';
import { createWakeSignal } from '#platform/concurrency/wake-signal.ts';
import { isConnectionFailure } from '#platform/postgres/connection-failure.ts';
import { LeaseLost } from '#platform/postgres/lease/leases.ts';
import type { MatchingSession } from '../dependencies.ts';
import {
  postponeCheck,
  readNextCheck,
  type SignalCheck,
  type SignalSource,
} from '../matching/pending-signal-checks.ts';
import { type FoundSignals, notifySignals } from './notify-signals.ts';

/** Interval of the search for due checks, and of the wait for the read model. */
const LOOK_MS = 1_000;
/** The wait for a retry doubles with each failure, up to the longest. */
const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 60_000;

const retryDelayMs = (failures: number): number =>
  Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (failures - 1));

/** A failed check stays pending for later; the next ones go on, but slowly while they fail too. */
export type SignalChecks = {
  /**
   * Reads the signals of the next check while events are matched, and writes nothing that matching reads. Never
   * rejects. `null` once the signal is aborted.
   */
  next(ending: AbortSignal): Promise<FoundSignals | null>;
  /** Throws only when Postgres is gone or the lease is lost. */
  notify(found: FoundSignals): Promise<void>;
  wake(): void;
};

export const openSignalChecks = (session: MatchingSession, source: SignalSource): SignalChecks => {
  const { database, settings } = session;
  const { log } = settings;
  const added = createWakeSignal();
  /** Failures in a row, of any check. */
  let failures = 0;

  const failed = async (error: unknown, check: SignalCheck | null): Promise<void> => {
    failures += 1;
    const about = check && { position: String(check.position), brand_id: check.brand_id };
    log.warn({ err: error, ...about }, 'signal check failed; tried again later');
    if (check === null) return;
    try {
      await postponeCheck(database, check, retryDelayMs(check.failures + 1));
    } catch (postponeError) {
      log.warn({ err: postponeError }, 'signal check not postponed');
    }
  };

  return {
    next: async (ending) => {
      if (failures > 0) await pause(retryDelayMs(failures), ending);
      while (!ending.aborted) {
        let check: SignalCheck | null = null;
        try {
          check = await readNextCheck(database);
          if (check === null) await added.next({ timeoutMs: LOOK_MS, signal: ending });
          else if (await source.shown(check.position))
            return { check, signals: await source.list(check.brand_id, check.date) };
          else await pause(LOOK_MS, ending);
        } catch (error) {
          if (ending.aborted) break;
          await failed(error, check);
          await pause(retryDelayMs(failures), ending);
        }
      }
      return null;
    },
    notify: async (found) => {
      try {
        await notifySignals(session, found);
        failures = 0;
      } catch (error) {
        if (isConnectionFailure(error) || error instanceof LeaseLost) throw error;
        await failed(error, found.check);
      }
    },
    wake: () => added.notify(),
  };
};
