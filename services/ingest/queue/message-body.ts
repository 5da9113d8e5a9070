import { checkJsError, type JsMsg } from 'nats';
import { BODY_BYTES_HEADER, BODY_SEQUENCE_HEADER } from '#contracts/messages/observation-headers.ts';
import {
  OBSERVATION_BODIES_STREAM,
  OBSERVATIONS_STREAM,
  observationBodySubject,
} from '#contracts/messages/subjects.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';

/** Header in which the server states the size of a message that it delivers without its body. */
const SIZE_HEADER = 'Nats-Msg-Size';
/** Header of a message that is read directly: its subject. */
const SUBJECT_HEADER = 'Nats-Subject';
/** Request for one message of a stream to any of its replicas (NATS, ADR-31 "JetStream Direct Get"). */
const directGet = (stream: string): string => `$JS.API.DIRECT.GET.${stream}`;
/** Milliseconds in which a body must arrive. */
const BODY_LIMIT_MS = 5_000;
/** Code of an error about a message that does not exist. */
const NO_MESSAGE = '404';
/** Milliseconds for which only the leader is asked after a replica did not answer. */
const LEADER_ONLY_MS = 60_000;

/** Thrown when a message, or its body in a stream of its own, has left the queue: it expired, or an operator removed it. */
export class MessageGone extends Error {
  constructor(stream: string, sequence: number) {
    super(`the message ${sequence} of ${stream} is no longer in the queue`);
    this.name = 'MessageGone';
  }
}

type Message = Pick<JsMsg, 'seq' | 'subject' | 'headers'>;

/** Returns the sequence number of a body in `OBSERVATION_BODIES`; `null` when the message holds its body itself. */
const bodySequenceOf = ({ headers }: Pick<JsMsg, 'headers'>): number | null => {
  const stated = headers?.get(BODY_SEQUENCE_HEADER) || undefined;
  return stated === undefined ? null : Number(stated);
};

/** Bytes of the body of a message that was delivered without it. */
export const bodyBytesOf = (message: Pick<JsMsg, 'headers'>): number =>
  Number(message.headers?.get(bodySequenceOf(message) === null ? SIZE_HEADER : BODY_BYTES_HEADER) || 0);

/** The body of a message. */
export type Body = {
  readonly bytes: Uint8Array;
  /** Its sequence number in `OBSERVATION_BODIES`; `null` when the message holds it itself. */
  readonly apart: number | null;
  /** Why the message must be refused; `null` when nothing is wrong with its body. */
  readonly fault: string | null;
};

/** The bodies of observations in the queue. */
export type Bodies = {
  /** Reads the body of a message. Throws `MessageGone`, and errors of the connection. */
  read(message: Message): Promise<Body>;
  /** Removes a body that is stored apart, after its message has left the queue. A failure leaves it until it expires. */
  remove(body: Body): Promise<void>;
};

const isMissing = (error: unknown): boolean => (error as { readonly code?: string }).code === NO_MESSAGE;

/** A message as a stream stores it. */
type Stored = { readonly subject: string; readonly data: Uint8Array };

/**
 * Creates a reader of stored messages. Any replica answers. The leader is asked when a replica lacks the message,
 * because it may lag behind, and when none answers: an older release that starts later configures the stream without
 * such reads, and the server is then silent.
 */
const createReader = ({ connection, manager }: Pick<Nats, 'connection' | 'manager'>, stream: string) => {
  let leaderOnlyUntil = 0;

  const readFromReplica = async (seq: number): Promise<Stored | null> => {
    if (performance.now() < leaderOnlyUntil) return null;
    try {
      const reply = await connection.request(directGet(stream), JSON.stringify({ seq }), {
        timeout: BODY_LIMIT_MS,
      });
      const error = checkJsError(reply);
      if (error !== null) throw error;
      return { subject: reply.headers?.get(SUBJECT_HEADER) ?? '', data: reply.data };
    } catch (error) {
      if (!isMissing(error)) leaderOnlyUntil = performance.now() + LEADER_ONLY_MS;
      return null;
    }
  };
  return async (seq: number): Promise<Stored> => {
    const stored = await readFromReplica(seq);
    if (stored !== null) return stored;
    try {
      return await manager.streams.getMessage(stream, { seq });
    } catch (error) {
      throw isMissing(error) ? new MessageGone(stream, seq) : error;
    }
  };
};

const NO_BYTES = new Uint8Array();

/** Opens the bodies of observations. */
export const openBodies = (nats: Pick<Nats, 'connection' | 'manager'>, log: Log): Bodies => {
  const readMessage = createReader(nats, OBSERVATIONS_STREAM);
  const readApart = createReader(nats, OBSERVATION_BODIES_STREAM);

  const read = async (message: Message): Promise<Body> => {
    const sequence = bodySequenceOf(message);
    if (sequence === null) return { bytes: (await readMessage(message.seq)).data, apart: null, fault: null };
    if (!Number.isSafeInteger(sequence) || sequence < 1) {
      const fault = `The header \`${BODY_SEQUENCE_HEADER}\` is no sequence number. Send the one of the stored body.`;
      return { bytes: NO_BYTES, apart: null, fault };
    }
    const { subject, data } = await readApart(sequence);
    const expected = observationBodySubject(message.subject);
    if (subject !== expected) {
      // It belongs to another message, which still needs it.
      const fault = `The header \`${BODY_SEQUENCE_HEADER}\` names a body of another subject. Store the body under ${expected}.`;
      return { bytes: NO_BYTES, apart: null, fault };
    }
    const isWhole = data.length === bodyBytesOf(message);
    const fault = `The header \`${BODY_BYTES_HEADER}\` is not the length of the body, which is ${data.length}.`;
    return { bytes: data, apart: sequence, fault: isWhole ? null : fault };
  };

  return {
    read,
    remove: async ({ apart }) => {
      if (apart === null) return;
      try {
        await nats.manager.streams.deleteMessage(OBSERVATION_BODIES_STREAM, apart, false);
      } catch (error) {
        log.warn({ err: error, sequence: apart }, 'body of an observation left until it expires');
      }
    },
  };
};
