import { isoTimeSql } from '#contracts/values/time.ts';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import type { VerificationReport } from '#contracts/messages/projector.ts';
import { pause } from '#platform/clock.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { sendRequest, fromProjector, WATCH_EVERY_MS } from './projector-tables.ts';

const POSITION = 'must be a log position, as `projections status` shows it';
/** Maximum value of a Postgres `bigint`, the type of positions. */
const POSITION_MAX = 2n ** 63n - 1n;

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
  /** The reason why the comparison failed; `null` when it has not failed. */
  readonly error: string | null;
  readonly report: VerificationReport | null;
};

const OVER: readonly Verification['state'][] = ['passed', 'differs', 'failed', 'cancelled'];
export const isVerificationOver = ({ state }: Verification): boolean => OVER.includes(state);

/** Compares a replay with the live tables. `to` holds the projection at a position. Throws `already_exists`. */
export const requestVerification = async (
  database: Database,
  name: string,
  { to, by }: { readonly to: bigint | null; readonly by: string },
): Promise<void> => {
  const requested = await sendRequest(
    database,
    name,
    `insert into projector.verification as v (name, state, to_position, requested_by) values ($1, 'asked', $2, $3)
     on conflict (name) do update set state = 'asked', to_position = excluded.to_position, is_cancelled = false,
       requested_by = excluded.requested_by, requested_at = now(), started_at = null, finished_at = null, position = null,
       facts = 0, report = null, error = null
     where v.state in ('passed', 'differs', 'failed', 'cancelled')`,
    [to, by],
  );
  if (requested === 0) {
    throw new Refusal(
      'already_exists',
      `A verification of ${name} is already running. Wait for it, or cancel it first.`,
    );
  }
};

export const cancelVerification = async (database: Database, name: string): Promise<void> => {
  const cancelled = await sendRequest(
    database,
    name,
    `update projector.verification set is_cancelled = true where name = $1 and state in ('asked', 'reading', 'comparing')`,
  );
  if (cancelled === 0) throw new Refusal('not_found', `No verification of ${name} is running.`);
};

/** `null` when the projection was never verified. */
export const readVerification = async (database: Database, name: string): Promise<Verification | null> => {
  const { rows } = await fromProjector(() =>
    database.query<Verification>(
      `select v.name, v.state, v.facts::float8 as facts, greatest(l.log_facts, v.facts)::float8 as total_facts,
         ${isoTimeSql('v.started_at')} as started_at, ${isoTimeSql('v.finished_at')} as finished_at, v.error, v.report
       from projector.verification v join projector.lag l using (name) where v.name = $1`,
      [name],
    ),
  );
  return rows[0] ?? null;
};

export const watchVerification = async (
  database: Database,
  name: string,
  onProgress: (verification: Verification) => void,
  signal: AbortSignal,
): Promise<Verification | null> => {
  for (;;) {
    const verification = await readVerification(database, name);
    if (verification) onProgress(verification);
    if (!verification || isVerificationOver(verification) || signal.aborted) return verification;
    await pause(WATCH_EVERY_MS, signal);
  }
};
