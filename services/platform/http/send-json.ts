import type { FastifyReply } from 'fastify';

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
