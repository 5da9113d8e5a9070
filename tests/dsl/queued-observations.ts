import { OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import { silentLog } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';
import { openBodies } from '#services/ingest/queue/message-body.ts';

/** An observation in the queue. `type` is a header of its message, `json` the content of its body. */
export type QueuedObservation = {
  readonly subject: string;
  readonly type: string;
  readonly json: unknown;
};

/** Messages by sequence number. A stream that was deleted and created again has other messages. */
type MessagesRead = { readonly created: string; readonly bySeq: Map<number, Promise<QueuedObservation>> };

/** A stored message never changes, so each is read once on a connection, however often a test looks. */
const messagesRead = new WeakMap<object, MessagesRead>();

/** Does not consume the observations. Bodies that are stored apart are read too. Returns the same object each time. */
export const readQueuedObservations = async (
  nats: Pick<Nats, 'connection' | 'manager'>,
): Promise<readonly QueuedObservation[]> => {
  const { manager } = nats;
  const bodies = openBodies(nats, silentLog());
  const readMessage = async (seq: number): Promise<QueuedObservation> => {
    const { subject, header: headers } = await manager.streams.getMessage(OBSERVATIONS_STREAM, { seq });
    const { bytes } = await bodies.read({ seq, subject, headers });
    const json: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return { subject, type: headers.get('Observation-Type'), json };
  };
  const { state, created } = await manager.streams.info(OBSERVATIONS_STREAM);
  const before = messagesRead.get(manager);
  const { bySeq } = before?.created === created ? before : { bySeq: new Map() as MessagesRead['bySeq'] };
  messagesRead.set(manager, { created, bySeq });
  return await Promise.all(
    Array.from({ length: state.messages }, (_, index) => {
      const seq = state.first_seq + index;
      const message = bySeq.get(seq) ?? readMessage(seq);
      bySeq.set(seq, message);
      return message;
    }),
  );
};

/** Parses each queued observation once. */
export const parsedObservations = <T>(
  nats: Pick<Nats, 'connection' | 'manager'>,
  parse: (json: unknown) => T,
): (() => Promise<readonly T[]>) => {
  const parsed = new Map<QueuedObservation, T>();
  return async () =>
    (await readQueuedObservations(nats)).map((message) => {
      const observation = parsed.get(message) ?? parse(message.json);
      parsed.set(message, observation);
      return observation;
    });
};
