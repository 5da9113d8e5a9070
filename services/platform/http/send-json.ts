import type { FastifyReply } from 'fastify';
import type { ErrorDetail } from '#contracts/errors.ts';

/** `type` and `status` come from the error table of the process (`contracts/errors.ts` for the API). */
export const errorBody = (
  type: string,
  status: number,
  message: string,
  requestId: string,
  details: readonly ErrorDetail[],
): string =>
  JSON.stringify({
    error: { type, message, status, request_id: requestId, ...(details.length > 0 ? { details } : {}) },
  });

export const JSON_CONTENT = 'application/json; charset=utf-8';

export type Headers = Record<string, string | number>;

/** Pure ASCII text is copied as latin1, which is faster than UTF-8 encoding. */
export const send = (reply: FastifyReply, status: number, headers: Headers, body: string): void => {
  // A request whose time ran out was answered then.
  if (reply.raw.headersSent) return;
  const bytes = Buffer.byteLength(body);
  if (status !== 304) {
    headers['content-type'] = JSON_CONTENT;
    headers['content-length'] = bytes;
  }
  reply.hijack();
  reply.raw.writeHead(status, headers).end(body, bytes === body.length ? 'latin1' : 'utf8');
};
