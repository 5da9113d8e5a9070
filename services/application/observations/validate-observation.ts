import { Refusal } from '#contracts/errors.ts';
import type { IntakeDetailCode } from '#contracts/intake.ts';
import { Observation } from '#contracts/observations/index.ts';
import { DAY_MS } from '#contracts/values/time.ts';

/** A later timestamp means that the collector's clock is wrong. */
const FUTURE_TOLERANCE_MS = DAY_MS;
/** An earlier timestamp means that the collector's clock was never set. */
const EARLIEST_TIME_MS = Date.UTC(2000, 0);

/** Throws `Refusal` for the future or before the year 2000. */
export const inUtc = (timestamp: string, what: string): string => {
  const time = Date.parse(timestamp);
  const fault =
    time > Date.now() + FUTURE_TOLERANCE_MS
      ? 'in the future'
      : time < EARLIEST_TIME_MS
        ? 'before the year 2000'
        : null;
  if (fault !== null) {
    const message = `\`${what}\` ${timestamp} is ${fault}. Check the collector's clock or the timestamp.`;
    throw new Refusal<IntakeDetailCode>('invalid_input', message, [
      { path: what, message, code: 'out_of_range' },
    ]);
  }
  return new Date(time).toISOString();
};

/** Throws `Refusal` with the failing fields when it matches no schema. */
export const parseObservation = (input: unknown): Observation => {
  const parsed = Observation.safeParse(input);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.slice(0, 20).map(({ path, message, code }) => ({
    path: path.join('.'),
    message,
    code: code ?? 'invalid',
  }));
  const first = details[0];
  throw new Refusal(
    'invalid_input',
    `The observation is invalid: ${first?.path || 'observation'}: ${first?.message}. Fix it and submit it again.`,
    details,
  );
};

/** Checks schema and time like ingest. Throws `Refusal` with the failing fields. Needs no server. */
export const validateObservation = (input: unknown): Observation => {
  const observation = parseObservation(input);
  if ('scanned_at' in observation) inUtc(observation.scanned_at, 'scanned_at');
  else inUtc(observation.observed_at, 'observed_at');
  return observation;
};
