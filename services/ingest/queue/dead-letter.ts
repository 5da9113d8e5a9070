import { ErrorCode, headers, type JsMsg, type NatsError } from 'nats';
import { OBSERVATION_DEAD_LETTER } from '#contracts/messages/subjects.ts';
import type { Nats } from '#platform/nats/connection.ts';

const REASON_MAX = 1_000;
/** Kept of a message that is too large to be published again with more headers. */
const KEPT_BYTES = 64 * 1024;
/** JetStream: the message is larger than the stream takes. */
const LARGER_THAN_STREAM = 10_054;

const isTooLarge = (error: unknown): boolean => {
  const { code, api_error } = error as Partial<NatsError>;
  return code === ErrorCode.MaxPayloadExceeded || api_error?.err_code === LARGER_THAN_STREAM;
};

/**
 * Publishes, then removes from the queue. If headers do not fit, keeps the beginning, with the length in header
 * `truncated`.
 */
export const deadLetter = async (
  { nats, message }: { readonly nats: Nats; readonly message: JsMsg },
  data: Uint8Array,
  reason: string,
): Promise<void> => {
  const header = headers();
  header.set('reason', reason.replace(/\s+/g, ' ').slice(0, REASON_MAX));
  header.set('subject', message.subject);
  header.set('sequence', String(message.seq));
  header.set('Nats-Msg-Id', `dead-${message.seq}`);
  const publish = (bytes: Uint8Array): Promise<unknown> =>
    nats.jetstream.publish(OBSERVATION_DEAD_LETTER, bytes, { headers: header });
  try {
    await publish(data);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    header.set('truncated', String(data.length));
    await publish(data.subarray(0, KEPT_BYTES));
  }
  message.term();
};
