import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';

/** A time with its zone, or a day in UTC. */
export const Moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'a time such as 2026-05-01T08:00:00Z, or a day')
  .transform((text) => new Date(text));

/** Of what takes no parameters: what is given nonetheless was meant for something, and is refused. */
export const Nothing = z.strictObject({});

/** Reads the parameters of a command or of a request, and refuses what does not fit, naming each. */
export const readQuery = <T>(schema: z.ZodType<T>, given: unknown): T => {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const details = read.error.issues.map(({ path, message, code }) => ({
    path: path.join('.'),
    message,
    code,
  }));
  const said = details.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  throw new Refusal('invalid_input', `The parameters are wrong: ${said}.`, details);
};
