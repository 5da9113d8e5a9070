import { hash } from 'node:crypto';
import { routingHeadersOf } from '#contracts/messages/observation-headers.ts';
import { observationSubject } from '#contracts/messages/subjects.ts';
import { keyOf, type Observation } from '#contracts/observations/index.ts';
import { headersFrom, type Nats } from '#platform/nats/connection.ts';

/** Returns a name of the message that is equal when it is published again. */
const messageIdOf = (observation: Observation): string | undefined => {
  if (observation.type === 'creative.file') return hash('sha256', JSON.stringify(observation), 'hex');
  if (!('scan_id' in observation)) return undefined;
  const part = 'page' in observation ? observation.page : 'chunk' in observation ? observation.chunk : 'end';
  return `${observation.scan_id}-${part}`;
};

/** Publishes observations to the intake, in order. The queue drops those that it received within two minutes. */
export const publishObservations = async (
  { jetstream }: Pick<Nats, 'jetstream'>,
  observations: readonly Observation[],
): Promise<void> => {
  for (const observation of observations) {
    const msgID = messageIdOf(observation);
    await jetstream.publish(observationSubject(keyOf(observation)), JSON.stringify(observation), {
      headers: headersFrom(routingHeadersOf(observation)),
      ...(msgID === undefined ? {} : { msgID }),
    });
  }
};
