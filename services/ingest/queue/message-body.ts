import { checkJsError, type JsMsg } from 'nats';
import { OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import type { Nats } from '#platform/nats/connection.ts';

/** Header in which the server states the size of a message that it delivers without its body. */
const SIZE_HEADER = 'Nats-Msg-Size';
/** Request for one message of a stream to any of its replicas (NATS, ADR-31 "JetStream Direct Get"). */
const DIRECT_GET = `$JS.API.DIRECT.GET.${OBSERVATIONS_STREAM}`;
/** Milliseconds in which a body must arrive. */
const BODY_LIMIT_MS = 5_000;
/** Code of an error about a message that does not exist. */
const NO_MESSAGE = '404';
/** Milliseconds for which only the leader is asked after a replica did not answer. */
const LEADER_ONLY_MS = 60_000;

/** Thrown when a message has left the queue: it expired, or an operator removed it. */
export class MessageGone extends Error {
  constructor(sequence: number) {
    super(`the message ${sequence} is no longer in the queue`);
    this.name = 'MessageGone';
  }
}

/** Bytes of the body of a message that was delivered without it. */
export const bodyBytesOf = ({ headers }: Pick<JsMsg, 'headers'>): number =>
  Number(headers?.get(SIZE_HEADER) || 0);

/** Reads the body of a message by its sequence. Throws `MessageGone`, and errors of the connection. */
export type ReadBody = (sequence: number) => Promise<Uint8Array>;

const isMissing = (error: unknown): boolean => (error as { readonly code?: string }).code === NO_MESSAGE;

/**
 * Creates a reader of bodies from the stream. Any replica answers. The leader is asked when a replica lacks the message,
 * because it may lag behind, and when none answers: an older release that starts later configures the stream without
 * such reads, and the server is then silent.
 */
export const createBodyReader = ({ connection, manager }: Pick<Nats, 'connection' | 'manager'>): ReadBody => {
  let leaderOnlyUntil = 0;

  const readFromReplica = async (seq: number): Promise<Uint8Array | null> => {
    if (performance.now() < leaderOnlyUntil) return null;
    try {
      const reply = await connection.request(DIRECT_GET, JSON.stringify({ seq }), { timeout: BODY_LIMIT_MS });
      const error = checkJsError(reply);
      if (error !== null) throw error;
      return reply.data;
    } catch (error) {
      if (!isMissing(error)) leaderOnlyUntil = performance.now() + LEADER_ONLY_MS;
      return null;
    }
  };
  return async (seq) => {
    const body = await readFromReplica(seq);
    if (body !== null) return body;
    try {
      return (await manager.streams.getMessage(OBSERVATIONS_STREAM, { seq })).data;
    } catch (error) {
      throw isMissing(error) ? new MessageGone(seq) : error;
    }
  };
};
