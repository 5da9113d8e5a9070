import { z } from 'zod';

/** Less than the two seconds after which a command is refused: its caller gets the answer within them. */
export const EVENT_STORE_ANSWER_MS = 1_800;

/** Setting of the processes that answer requests. */
export const eventStoreAnswerSettings = {
  EVENT_STORE_ANSWER_MS: z.coerce
    .number()
    .int()
    .min(100)
    .max(8_000)
    .default(EVENT_STORE_ANSWER_MS)
    .describe(
      'Milliseconds in which the event store must answer a call of a request; the request ends with 503 otherwise.',
    ),
};
