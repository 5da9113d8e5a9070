import { ACTIVITY_KINDS } from '#contracts/values/signals.ts';
import type { Log } from '#platform/logger.ts';
import { openPool } from '#platform/postgres/pool.ts';
import { openReadDatabase } from '#platform/postgres/read-database.ts';
import { openProjectionWait } from '#application/commands/projection-wait.ts';
import { signals } from '#projections/signals/project.ts';
import { listBrandSignals } from '#projections/signals/read.ts';
import type { SignalSource } from '../matching/pending-signal-checks.ts';

export const openSignalSource = (databaseUrl: string, log: Log): SignalSource & AsyncDisposable => {
  const pool = openPool(databaseUrl, 1);
  const db = openReadDatabase(databaseUrl);
  const projectionWait = openProjectionWait(databaseUrl, pool, log);
  return {
    shown: (position) => projectionWait.wait([signals.name], position),
    list: (brandId, date) => listBrandSignals(db, brandId, { from: date, to: date }, ACTIVITY_KINDS),
    [Symbol.asyncDispose]: async () => {
      await projectionWait[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
      await pool.end();
    },
  };
};
