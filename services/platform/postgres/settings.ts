import { z } from 'zod';

/**
 * Less than the three seconds after which a read is refused while Postgres is silent: its caller gets the answer within them,
 * also on a busy machine.
 */
export const READ_ANSWER_MS = 2_500;

/** The same for a statement of a process without the setting below, such as a report of many rows. */
export const REQUEST_ANSWER_MS = 5_000;

/** Setting of the processes that answer reads. */
export const readAnswerSettings = {
  READ_ANSWER_MS: z.coerce
    .number()
    .int()
    .min(100)
    .max(8_000)
    .default(READ_ANSWER_MS)
    .describe(
      'Milliseconds in which Postgres must answer a statement of a request, and a light read must be done; the request ends with 503 otherwise. Searches have limits of their own.',
    ),
};
