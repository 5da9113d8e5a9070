import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { loadUndici } from './undici.ts';

/**
 * Maximum bytes of the status line and headers of a response, with those of interim ones. The HTTP client has a limit of
 * its own, but counts names and values only, and goes on with what it has read: a receiver that sent 64 KiB of short
 * fields took 100 ms of all others.
 */
const HEAD_MAX_BYTES = 16 * 1_024;
/** Bytes that the client gets at once until the head is complete. What follows in them belongs to the body. */
const PIECE_BYTES = 2 * 1_024;

/** Progress of the response that a socket receives. */
type Answer = { bytes: number; isHead: boolean };

const answerOfSocket = new WeakMap<object, Answer>();
const answerOfRequest = new WeakMap<object, Answer>();

// Channels of `undici`. The HTTP client of Node has the same, with sockets that are not known here.
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

/** Ends the connection when the head of a response exceeds the limit, before the client reads that part. */
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
