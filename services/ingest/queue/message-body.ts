import { checkJsError, type JsMsg } from 'nats';
import { OBSERVATIONS_STREAM } from '#contracts/messages/subjects.ts';
import type { Nats } from '#platform/nats/connection.ts';

/** Header in which the server states the size of a message that it delivers without its body. */
const SIZE_HEADER = 'Nats-Msg-Size';
/** Request for one message of a stream to any of its replicas (NATS, ADR-31 "JetStream Direct Get"). */
const DIRECT_GET = `$JS.API.DIRECT.GET.${OBSERVATIONS_STREAM}`;
/** Milliseconds in which a body must arrive. */
const BODY_LIMIT_MS = 5_000;
/** Codes of errors about a message that does not exist, and about a stream that does not allow the request. */
const NO_MESSAGE = '404';
const NOT_ALLOWED = '503';

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

/** Reads a body from any replica; `null` when it has none, or when the stream does not allow it. */
const readFromReplica = async (connection: Nats['connection'], seq: number): Promise<Uint8Array | null> => {
  try {
    const reply = await connection.request(DIRECT_GET, JSON.stringify({ seq }), { timeout: BODY_LIMIT_MS });
    const error = checkJsError(reply);
    if (error !== null) throw error;
    return reply.data;
  } catch (error) {
    const { code = '' } = error as { readonly code?: string };
    if (code === NO_MESSAGE || code === NOT_ALLOWED) return null;
    throw error;
  }
};

/**
 * Reads the body of a message from the stream. Any replica answers. The leader is asked when a replica lacks the message,
 * because it may lag behind, and when an older release configured the stream without such reads. Throws `MessageGone`,
 * and errors of the connection.
 */
export const readBody = async (
  { connection, manager }: Pick<Nats, 'connection' | 'manager'>,
  seq: number,
): Promise<Uint8Array> => {
  const body = await readFromReplica(connection, seq);
  if (body !== null) return body;
  try {
    return (await manager.streams.getMessage(OBSERVATIONS_STREAM, { seq })).data;
  } catch (error) {
    throw (error as { readonly code?: string }).code === NO_MESSAGE ? new MessageGone(seq) : error;
  }
};
