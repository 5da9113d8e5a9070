import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';

/** A lenient decoder would replace bytes, and the altered text would be stored. */

const DECODER = new TextDecoder('utf-8', { fatal: true });
const NOT_ASCII = /[^\p{ASCII}]/u;

/** `null` for invalid UTF-8. */
export const textOfUtf8 = (bytes: Uint8Array): string | null => {
  try {
    return DECODER.decode(bytes);
  } catch {
    return null;
  }
};

const notUtf8 = (what: string): Error =>
  Object.assign(new Error(`The ${what} is not valid UTF-8.`), { statusCode: 400, code: 'INVALID_UTF8' });

type Done = (error: Error | null, body?: unknown) => void;

/** Needs `parseAs: 'buffer'`. Refuses a body that is not UTF-8 with 400. */
export const parseUtf8Body = (_request: FastifyRequest, body: string | Buffer, done: Done): void => {
  const text = typeof body === 'string' ? body : textOfUtf8(body);
  if (text !== null) return done(null, text);
  done(notUtf8('body'));
};

/** Node reads each byte of headers and addresses as one character. */
const isUtf8 = (bytewise: string): boolean =>
  !NOT_ASCII.test(bytewise) || textOfUtf8(Buffer.from(bytewise, 'latin1')) !== null;

const isDecodable = (address: string): boolean => {
  if (!address.includes('%')) return true;
  try {
    decodeURIComponent(address);
    return true;
  } catch {
    return false;
  }
};

/** Returns `address` or the name of a header; `null` when all is valid. */
export const findInvalidUtf8 = ({ url = '', rawHeaders }: IncomingMessage): string | null => {
  if (!isDecodable(url) || !isUtf8(url)) return 'address';
  for (let index = 1; index < rawHeaders.length; index += 2) {
    if (!isUtf8(rawHeaders[index] ?? '')) return (rawHeaders[index - 1] ?? '').toLowerCase();
  }
  return null;
};

/** Refuses a form that is not UTF-8 with 400, also where its bytes are percent-encoded. */
export const parseUtf8Form = (request: FastifyRequest, body: string | Buffer, done: Done): void =>
  parseUtf8Body(request, body, (error, text) => {
    if (error !== null || typeof text !== 'string') return done(error);
    if (!isDecodable(text)) return done(notUtf8('form'));
    done(null, new URLSearchParams(text));
  });

export const parseJsonAsUtf8 = (app: FastifyInstance): void => {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    parseUtf8Body(request, body, (error, text) => {
      if (error !== null || typeof text !== 'string') return done(error);
      void parseJson(request, text, done);
    });
  });
};

/** Refuses addresses and headers that are not UTF-8 with 400, before the body is read. */
export const refuseInvalidUtf8 = (app: FastifyInstance): void => {
  app.addHook('onRequest', async ({ raw }) => {
    const part = findInvalidUtf8(raw);
    if (part !== null) throw notUtf8(part === 'address' ? part : `header ${part}`);
  });
};
