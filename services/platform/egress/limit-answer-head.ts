import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { loadUndici } from './undici.ts';

/**
 * Status line and headers, with interim ones. The client's limit counts names and values only: 64 KiB of short fields
 * took 100 ms of all other receivers.
 */
const HEAD_MAX_BYTES = 16 * 1_024;
/** The client gets pieces until the head is complete; what follows belongs to the body. */
const PIECE_BYTES = 2 * 1_024;

type Answer = { bytes: number; isHead: boolean };

const answerOfSocket = new WeakMap<object, Answer>();
const answerOfRequest = new WeakMap<object, Answer>();

// Channels of `undici`. Node's HTTP client has the same, with sockets that are not known here.
subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { readonly request: object; readonly socket: object };
  const answer = answerOfSocket.get(socket);
  if (answer === undefined) return;
  Object.assign(answer, { bytes: 0, isHead: true } satisfies Answer);
  answerOfRequest.set(request, answer);
});
subscribe('undici:request:headers', (message) => {
  const { request, response } = message as {
    readonly request: object;
    readonly response: { readonly statusCode: number };
  };
  const answer = answerOfRequest.get(request);
  if (answer !== undefined && response.statusCode >= 200) answer.isHead = false;
});

/** Ends the connection before the client reads the part of the head that exceeds the limit. */
export const limitAnswerHead = (socket: Socket): void => {
  const answer: Answer = { bytes: 0, isHead: false };
  answerOfSocket.set(socket, answer);
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  socket.read = (size?: number): Buffer | null => {
    if (!answer.isHead || size !== undefined) return read(size);
    const piece = read(socket.readableLength > PIECE_BYTES ? PIECE_BYTES : undefined);
    answer.bytes += piece?.length ?? 0;
    if (answer.bytes <= HEAD_MAX_BYTES) return piece;
    socket.destroy(new (loadUndici().errors.HeadersOverflowError)());
    return null;
  };
};
