import { z } from 'zod';

/** Less than the three seconds after which a read is refused, so that its caller gets the answer in time. */
export const READ_ANSWER_MS = 2_500;

/** Default of processes without the setting below, such as for a report of many rows. */
export const REQUEST_ANSWER_MS = 5_000;

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
