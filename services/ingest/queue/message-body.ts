import { checkJsError, type JsMsg } from 'nats';
import { BODY_BYTES_HEADER, BODY_SEQUENCE_HEADER } from '#contracts/messages/observation-headers.ts';
import {
  OBSERVATION_BODIES_STREAM,
  OBSERVATIONS_STREAM,
  observationBodySubject,
} from '#contracts/messages/subjects.ts';
import type { Log } from '#platform/logger.ts';
import type { Nats } from '#platform/nats/connection.ts';

const SIZE_HEADER = 'Nats-Msg-Size';
const SUBJECT_HEADER = 'Nats-Subject';
/** Any replica answers (NATS, ADR-31 "JetStream Direct Get"). */
const directGet = (stream: string): string => `$JS.API.DIRECT.GET.${stream}`;
const BODY_LIMIT_MS = 5_000;
const NO_MESSAGE = '404';
const LEADER_ONLY_MS = 60_000;

/** A message or its separate body expired, or an operator removed it. */
export class MessageGone extends Error {
  constructor(stream: string, sequence: number) {
    super(`the message ${sequence} of ${stream} is no longer in the queue`);
    this.name = 'MessageGone';
  }
}

type Message = Pick<JsMsg, 'seq' | 'subject' | 'headers'>;

/** In `OBSERVATION_BODIES`; `null` when the message has its body itself. */
const bodySequenceOf = ({ headers }: Pick<JsMsg, 'headers'>): number | null => {
  const stated = headers?.get(BODY_SEQUENCE_HEADER) || undefined;
  return stated === undefined ? null : Number(stated);
};

export const bodyBytesOf = (message: Pick<JsMsg, 'headers'>): number =>
  Number(message.headers?.get(bodySequenceOf(message) === null ? SIZE_HEADER : BODY_BYTES_HEADER) || 0);

export type Body = {
  readonly bytes: Uint8Array;
  readonly apart: number | null;
  readonly fault: string | null;
};

export type Bodies = {
  read(message: Message): Promise<Body>;
  /** Call after the message has left the queue. After a failure the body stays until it expires. */
  remove(body: Body): Promise<void>;
};

const isMissing = (error: unknown): boolean => (error as { readonly code?: string }).code === NO_MESSAGE;

type Stored = { readonly subject: string; readonly data: Uint8Array };

/** Asks the leader when a replica lags or is silent. */
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
