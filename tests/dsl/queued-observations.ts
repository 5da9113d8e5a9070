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

/** Does not consume the observations. Bodies that are stored apart are read too. */
export const readQueuedObservations = async (
  nats: Pick<Nats, 'connection' | 'manager'>,
): Promise<readonly QueuedObservation[]> => {
  const bodies = openBodies(nats, silentLog());
  const { state } = await nats.manager.streams.info(OBSERVATIONS_STREAM);
  return await Promise.all(
    Array.from({ length: state.messages }, async (_, index) => {
      const message = await nats.manager.streams.getMessage(OBSERVATIONS_STREAM, {
        seq: state.first_seq + index,
      });
      const { bytes } = await bodies.read({
        seq: message.seq,
        subject: message.subject,
        headers: message.header,
      });
      const json: unknown = JSON.parse(new TextDecoder().decode(bytes));
      return { subject: message.subject, type: message.header.get('Observation-Type'), json };
    }),
  );
};
