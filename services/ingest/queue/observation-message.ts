import type { JsMsg } from 'nats';
import { Refusal } from '#contracts/errors.ts';
import {
  OBSERVATION_TYPE_HEADER,
  ORDERING_KEY_HEADER,
  type Routing,
  routingOf,
} from '#contracts/messages/observation-headers.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';

export type ObservationMessage = {
  readonly subject: string;
  /** From both headers, else the parsed message. `null` when it is not readable; processing throws the reason. */
  routing(): Routing | null;
  /** Parsed at the first call. Throws `Refusal` when too large, not JSON, or unlike its headers. */
  observation(): unknown;
};

/** Throws for invalid UTF-8: a lenient decoder would replace it, and altered text would be stored. */
const DECODER = new TextDecoder('utf-8', { fatal: true });

const parse = (data: Uint8Array): unknown => {
  if (data.length > OBSERVATION_MAX_BYTES) {
    throw new Refusal(
      'invalid_input',
      `The observation is larger than ${OBSERVATION_MAX_BYTES} bytes. Send smaller chunks.`,
    );
  }
  let text: string;
  try {
    text = DECODER.decode(data);
  } catch {
    throw new Refusal('invalid_input', 'The observation is not valid UTF-8. Send JSON in UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('invalid_input', 'The observation is not JSON. Send one JSON object per message.');
  }
};

const requireEqual = (header: string, value: string | undefined, expected: string): void => {
  if (value === undefined || value === expected) return;
  throw new Refusal(
    'invalid_input',
    `The header \`${header}\` is "${value.slice(0, 100)}", but the observation needs "${expected}". ` +
      'Send the matching header, or none.',
  );
};

export const routingOfHeaders = (headers: JsMsg['headers']): Routing | null => {
  const type = headers?.get(OBSERVATION_TYPE_HEADER) || undefined;
  const orderingKey = headers?.get(ORDERING_KEY_HEADER) || undefined;
  return type === undefined || orderingKey === undefined ? null : { type, orderingKey };
};

/**
 * Headers have decided the order, so a message that contradicts them is refused. Large chunks are parsed only when due.
 */
export const readObservationMessage = ({
  subject,
  data,
  headers,
}: Pick<JsMsg, 'subject' | 'data' | 'headers'>): ObservationMessage => {
  const type = headers?.get(OBSERVATION_TYPE_HEADER) || undefined;
  const orderingKey = headers?.get(ORDERING_KEY_HEADER) || undefined;
  let outcome: { readonly input: unknown } | { readonly refusal: unknown } | undefined;

  const parseAndCompare = (): unknown => {
    const input = parse(data);
    const expected = routingOf(input);
    if (expected !== null) {
      requireEqual(OBSERVATION_TYPE_HEADER, type, expected.type);
      requireEqual(ORDERING_KEY_HEADER, orderingKey, expected.orderingKey);
    }
    return input;
  };
  const observation = (): unknown => {
    if (outcome === undefined) {
      try {
        outcome = { input: parseAndCompare() };
      } catch (refusal) {
        outcome = { refusal };
      }
    }
    if ('refusal' in outcome) throw outcome.refusal;
    return outcome.input;
  };
  return {
    subject,
    observation,
    routing: () => {
      const stated = routingOfHeaders(headers);
      if (stated !== null) return stated;
      try {
        return routingOf(observation());
      } catch {
        return null;
      }
    },
  };
};
