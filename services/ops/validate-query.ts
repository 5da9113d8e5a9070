import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';

/** Schema of a time with its zone, or of a day in UTC. */
export const Moment = z
  .union(
    [z.iso.datetime({ offset: true }), z.iso.date()],
    'must be a time such as 2026-05-01T08:00:00Z, or a day such as 2026-05-01',
  )
  .transform((text) => new Date(text));

export const Nothing = z.strictObject({});

export const readQuery = <T>(schema: z.ZodType<T>, input: unknown): T => {
  const read = schema.safeParse(input);
  if (read.success) return read.data;
  const details = read.error.issues.map(({ path, message, code }) => ({
    path: path.join('.'),
    message,
    code,
  }));
  const faults = details
    .map(({ path, message }) => (path === '' ? message : `\`${path}\`: ${message}`))
    .join('; ');
  throw new Refusal('invalid_input', `Invalid parameters: ${faults}.`, details);
};
