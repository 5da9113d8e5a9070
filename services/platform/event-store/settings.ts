import { z } from 'zod';

/** Setting of the processes that answer requests. */
export const eventStoreAnswerSettings = {
  EVENT_STORE_ANSWER_MS: z.coerce
    .number()
    .int()
    .min(100)
    .max(8_000)
    .default(2_000)
    .describe(
      'Milliseconds in which the event store must answer a call of a request; the request ends with 503 otherwise.',
    ),
};
