import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { VerificationReport } from '#contracts/messages/verification-report.ts';
import { pause } from '#platform/clock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { isoTime } from '#platform/postgres/iso-time.ts';
import { ask, fromProjector, WATCH_EVERY_MS } from './projector-tables.ts';

const POSITION = 'a position of the log, as the status of projections shows it';
/** Of what Postgres keeps positions in. */
const POSITION_MAX = 2n ** 63n - 1n;

/** How far to replay, from the command line or from HTTP. */
export const VerifyQuery = z.strictObject({
  to: z
    .string()
    .regex(/^\d{1,19}$/, POSITION)
    .transform(BigInt)
    .refine((position) => position <= POSITION_MAX, POSITION)
    .optional(),
});

export type Verification = {
  readonly name: string;
  readonly state: 'asked' | 'reading' | 'comparing' | 'passed' | 'differs' | 'failed' | 'cancelled';
  readonly facts: number;
  readonly total_facts: number;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** Why it could not be told whether they differ. */
  readonly error: string | null;
  readonly report: VerificationReport | null;
};

const OVER: readonly Verification['state'][] = ['passed', 'differs', 'failed', 'cancelled'];
export const isVerified = ({ state }: Verification): boolean => OVER.includes(state);

/** Has a projector replay the log beside and compare. `to`: hold the projection at this position meanwhile. */
export const requestVerification = async (
  database: Database,
  name: string,
  { to, by }: { readonly to: bigint | null; readonly by: string },
): Promise<void> => {
  const asked = await ask(
    database,
    name,
    `insert into projector.verification as v (name, state, to_position, requested_by) values ($1, 'asked', $2, $3)
     on conflict (name) do update set state = 'asked', to_position = excluded.to_position, is_cancelled = false,
       requested_by = excluded.requested_by, requested_at = now(), started_at = null, finished_at = null, position = null,
       facts = 0, report = null, error = null
     where v.state in ('passed', 'differs', 'failed', 'cancelled')`,
    [to, by],
  );
  if (asked === 0) throw new Refusal('already_exists', `${name} is being verified already.`);
};

export const cancelVerification = async (database: Database, name: string): Promise<void> => {
  const cancelled = await ask(
    database,
    name,
    `update projector.verification set is_cancelled = true where name = $1 and state in ('asked', 'reading', 'comparing')`,
  );
  if (cancelled === 0) throw new Refusal('not_found', `${name} is not being verified.`);
};

/** The last verification, also one that is over. */
export const readVerification = async (database: Database, name: string): Promise<Verification | null> => {
  const { rows } = await fromProjector(() =>
    database.query<Verification>(
      `select v.name, v.state, v.facts::float8 as facts, greatest(l.log_facts, v.facts)::float8 as total_facts,
         ${isoTime('v.started_at')} as started_at, ${isoTime('v.finished_at')} as finished_at, v.error, v.report
       from projector.verification v join projector.lag l using (name) where v.name = $1`,
      [name],
    ),
  );
  return rows[0] ?? null;
};

/** Tells how a verification goes on until it is over, or until the signal; answers how it stands then. */
export const watchVerification = async (
  database: Database,
  name: string,
  onProgress: (verification: Verification) => void,
  signal: AbortSignal,
): Promise<Verification | null> => {
  for (;;) {
    const verification = await readVerification(database, name);
    if (verification) onProgress(verification);
    if (!verification || isVerified(verification) || signal.aborted) return verification;
    await pause(WATCH_EVERY_MS, signal);
  }
};
