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

/**
 * Reads the body of a message from the stream. Any replica answers; one that lags behind may lack a new message, so the
 * leader is asked before the message counts as gone. Throws `MessageGone`, and errors of the connection.
 */
export const readBody = async (
  { connection, manager }: Pick<Nats, 'connection' | 'manager'>,
  seq: number,
): Promise<Uint8Array> => {
  const reply = await connection.request(DIRECT_GET, JSON.stringify({ seq }), { timeout: BODY_LIMIT_MS });
  const error = checkJsError(reply);
  if (error === null) return reply.data;
  if (error.code !== NO_MESSAGE) throw error;
  try {
    return (await manager.streams.getMessage(OBSERVATIONS_STREAM, { seq })).data;
  } catch (failure) {
    throw (failure as { code?: string }).code === NO_MESSAGE ? new MessageGone(seq) : failure;
  }
};
