import { z } from 'zod';

/**
 * Less than the three seconds after which a read is refused while Postgres is silent: its caller gets the answer within them,
 * also on a busy machine.
 */
export const READ_ANSWER_MS = 2_500;

/** Setting of the processes that answer reads. */
export const readAnswerSettings = {
  READ_ANSWER_MS: z.coerce
    .number()
    .int()
    .min(100)
    .max(8_000)
    .default(READ_ANSWER_MS)
    .describe(
      'Milliseconds from the arrival of a request in which Postgres must answer the check of its key and its light reads; the request ends with 503 otherwise. Searches and other slow reads have limits of their own.',
    ),
};
