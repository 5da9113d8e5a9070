import { z } from 'zod';

/** Less than the two seconds after which a command is refused, so that its caller gets the answer in time. */
export const EVENT_STORE_ANSWER_MS = 1_600;

export const eventStoreAnswerSettings = {
  EVENT_STORE_ANSWER_MS: z.coerce
    .number()
    .int()
    .min(100)
    .max(8_000)
    .default(EVENT_STORE_ANSWER_MS)
    .describe(
      'Milliseconds from the arrival of a request in which the event store must answer its calls, up to each recorded append; the request ends with 503 otherwise. A call that begins late has a quarter of them.',
    ),
};
