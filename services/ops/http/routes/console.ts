import type { FastifyInstance } from 'fastify';
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

/**
 * The operators' console: files as they are written, read once. They hold no secret and are served without a token;
 * what they show they ask for with the token that the operator types in, and keep it in the tab's `sessionStorage`.
 * There is no cookie, so no other page can have a browser do anything here.
 */
const FOLDER = new URL('../../console/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Scripts, styles and requests of this origin alone; text never becomes markup or code. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Asked for again each time, and answered with 304: a new version is there at once.
  'cache-control': 'no-cache',
} as const;

export const registerConsole = (app: FastifyInstance): void => {
  for (const name of readdirSync(FOLDER)) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const content = readFileSync(new URL(name, FOLDER));
    const etag = `"${hash('sha1', content, 'base64url')}"`;
    app.get(
      name === 'index.html' ? '/' : `/console/${name}`,
      { config: { open: true } },
      (request, reply) => {
        void reply.headers(HEADERS).header('etag', etag);
        if (request.headers['if-none-match'] === etag) return reply.status(304).send();
        return reply.type(type).send(content);
      },
    );
  }
};
