import type { FastifyInstance } from 'fastify';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { memoryFile, sendMemoryFile } from '#platform/http/memory-file.ts';

/** The console has no cookies, so another site cannot send authenticated requests (CSRF). Its files hold no secret. */
const FOLDER = new URL('../../console/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Allows scripts, styles and requests of this origin only. Trusted Types block injection through strings. */
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
  // Browsers revalidate on each use and get 304, so a new version takes effect at once.
  'cache-control': 'no-cache',
} as const;

export const registerConsole = (app: FastifyInstance): void => {
  for (const name of readdirSync(FOLDER, { encoding: 'utf8', recursive: true })) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const file = memoryFile(type, readFileSync(new URL(name, FOLDER)));
    app.get(
      name === 'index.html' ? '/' : `/console/${name}`,
      { config: { open: true } },
      (request, reply) => {
        void reply.headers(HEADERS);
        return sendMemoryFile(request, reply, file);
      },
    );
  }
};
