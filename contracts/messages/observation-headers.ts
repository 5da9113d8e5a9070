import { keyOf, type Observation } from '../observations/index.ts';

/** The consumer reads this header instead of parsing the message. */
export const OBSERVATION_TYPE_HEADER = 'Observation-Type';
/** Observations with the same key are processed in queue order. */
export const ORDERING_KEY_HEADER = 'Ordering-Key';

/** Sequence number of the body in `OBSERVATION_BODIES`, where the message has none. */
export const BODY_SEQUENCE_HEADER = 'Body-Sequence';
/** Length of such a body. */
export const BODY_BYTES_HEADER = 'Body-Bytes';

/** Before encoding. Longer keys are cut: equal cut keys only add an order. */
const ORDERING_KEY_MAX_CHARACTERS = 256;

/** Both headers must equal the values computed from the message; otherwise the message is refused. */
export type Routing = { readonly type: string; readonly orderingKey: string };

/**
 * `null` when the type is unknown or a field of the key malformed; other fields are not validated. Percent-encodes the
 * key, because header values hold no line breaks and lose spaces at their ends.
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

export const routingHeadersOf = (input: unknown): Readonly<Record<string, string>> => {
  const routing = routingOf(input);
  if (routing === null) return {};
  return { [OBSERVATION_TYPE_HEADER]: routing.type, [ORDERING_KEY_HEADER]: routing.orderingKey };
};
