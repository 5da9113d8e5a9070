import { BODY_BYTES_HEADER, BODY_SEQUENCE_HEADER } from '#contracts/messages/observation-headers.ts';
import { LARGE_OBSERVATION_BYTES, observationBodySubject } from '#contracts/messages/subjects.ts';
import { headersFrom, type Nats } from './connection.ts';

export type ObservationPublication = {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** Equal when the message is published again. Absent: each publication counts. */
  readonly msgID?: string;
};

const NO_BODY = new Uint8Array();

/**
 * Claim check: stores a large body in `OBSERVATION_BODIES` and returns the message that refers to it. Publish that
 * afterwards: its place decides the order. A body without a message expires after a week. Throws errors of JetStream,
 * also for a full stream.
 */
export const checkInLargeBody = async (
  { jetstream }: Pick<Nats, 'jetstream'>,
  publication: ObservationPublication,
  options: { readonly timeout?: number } = {},
): Promise<ObservationPublication> => {
  const { subject, data, headers, msgID } = publication;
  if (data.length <= LARGE_OBSERVATION_BYTES) return publication;
  const { seq } = await jetstream.publish(observationBodySubject(subject), data, {
    ...options,
    ...(msgID === undefined ? {} : { msgID }),
  });
  const reference = { [BODY_SEQUENCE_HEADER]: String(seq), [BODY_BYTES_HEADER]: String(data.length) };
  return { ...publication, data: NO_BODY, headers: { ...headers, ...reference } };
};

export const publishObservation = async (
  nats: Pick<Nats, 'jetstream'>,
  publication: ObservationPublication,
): Promise<void> => {
  const { subject, data, headers, msgID } = await checkInLargeBody(nats, publication);
  await nats.jetstream.publish(subject, data, {
    headers: headersFrom(headers),
    ...(msgID === undefined ? {} : { msgID }),
  });
};
