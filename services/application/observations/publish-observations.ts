import { hash } from 'node:crypto';
import { ErrorCode, type NatsError } from 'nats';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject } from '#contracts/messages/subjects.ts';
import { keyOf, type Observation } from '#contracts/observations/index.ts';
import { retry, type RetryLimits } from '#platform/concurrency/retry.ts';
import { publishObservation } from '#platform/nats/claim-check.ts';
import type { Nats } from '#platform/nats/connection.ts';

/** The message id is equal when the observation is published again. */
const messageIdOf = (observation: Observation): string | undefined => {
  if (observation.type === 'creative.file') return hash('sha256', JSON.stringify(observation), 'hex');
  if (!('scan_id' in observation)) return undefined;
  const part = 'page' in observation ? observation.page : 'chunk' in observation ? observation.chunk : 'end';
  return `${observation.scan_id}-${part}`;
};

/** About ten seconds: a NATS cluster has no leader for a moment after a node is gone. */
const PUBLISH_RETRIES: RetryLimits = { attempts: 8, firstDelayMs: 200, maxDelayMs: 2_000 };
/** JetStream's code of a full stream. Waiting a few seconds changes nothing. */
const STREAM_FULL = 10_077;

const mayRepeat = (error: unknown): boolean => {
  const { code, api_error } = error as Partial<NatsError>;
  return code !== ErrorCode.MaxPayloadExceeded && api_error?.err_code !== STREAM_FULL;
};

/**
 * In order, each again for some seconds while NATS does not store it. The queue drops repetitions within ten minutes.
 */
export const publishObservations = async (
  nats: Pick<Nats, 'jetstream'>,
  observations: readonly Observation[],
): Promise<void> => {
  const encoder = new TextEncoder();
  for (const observation of observations) {
    const msgID = messageIdOf(observation);
    const publication = {
      subject: observationSubject(keyOf(observation)),
      data: encoder.encode(JSON.stringify(observation)),
      headers: routingHeadersOf(observation),
      ...(msgID === undefined ? {} : { msgID }),
    };
    await retry(PUBLISH_RETRIES, mayRepeat, () => publishObservation(nats, publication));
  }
};
