import { keyOf, type Observation } from '../observations/index.ts';

/** Header with the observation's `type`. The consumer reads it instead of parsing the message. */
export const OBSERVATION_TYPE_HEADER = 'Observation-Type';
/** Header with the ordering key: observations with the same key are processed in queue order. */
export const ORDERING_KEY_HEADER = 'Ordering-Key';

/** Header of a message whose body is in `OBSERVATION_BODIES`: the sequence number of the body. */
export const BODY_SEQUENCE_HEADER = 'Body-Sequence';
/** Header of such a message: the length of the body in bytes. */
export const BODY_BYTES_HEADER = 'Body-Bytes';

/** Maximum characters of a key before encoding. Longer keys are cut: equal cut keys only add an order. */
const ORDERING_KEY_MAX_CHARACTERS = 256;

/** The values of both headers. They must equal the ones computed from the message; otherwise the message is refused. */
export type Routing = { readonly type: string; readonly orderingKey: string };

/**
 * Returns the routing of a JSON value. Returns `null` when its type is unknown, or a field of its key is malformed; the
 * other fields are not validated. The ordering key is percent-encoded, because header values cannot hold line breaks
 * and lose spaces at their ends.
 */
export const routingOf = (input: unknown): Routing | null => {
  try {
    const key: unknown = keyOf(input as Observation);
    if (typeof key !== 'string') return null;
    const orderingKey = encodeURIComponent(key.slice(0, ORDERING_KEY_MAX_CHARACTERS).toWellFormed());
    return { type: (input as Observation).type, orderingKey };
  } catch {
    // A field of the key is missing or has the wrong type.
    return null;
  }
};

/** Returns the headers of an observation for its publisher, by name. Empty when the routing is `null`. */
export const routingHeadersOf = (input: unknown): Readonly<Record<string, string>> => {
  const routing = routingOf(input);
  if (routing === null) return {};
  return { [OBSERVATION_TYPE_HEADER]: routing.type, [ORDERING_KEY_HEADER]: routing.orderingKey };
};
