import type { FastifyInstance } from 'fastify';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { memoryFile, sendMemoryFile } from '#platform/http/memory-file.ts';

const FOLDER = 'services/ops/console';
const OWN = ['index.html', 'console.css', 'icon.svg', 'console.js', 'api.js', 'parts.js', 'projections.js'];
const FILES = [
  ...[...OWN, 'parked.js', 'deliveries.js', 'history.js', 'collection.js'].map((name) => `${FOLDER}/${name}`),
  'node_modules/preact/dist/preact.mjs',
  'node_modules/preact/hooks/dist/hooks.mjs',
  'node_modules/htm/dist/htm.module.js',
  'node_modules/uplot/dist/uPlot.esm.js',
  'node_modules/uplot/dist/uPlot.min.css',
  'node_modules/simpledotcss/simple.min.css',
];
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Allows scripts, styles and requests of this origin only, and the import map. Trusted Types block injection of text. */
const securityHeaders = (importMap: string) => ({
  'content-security-policy': [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash('sha256', importMap, 'base64')}'`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Browsers revalidate on each use and get 304, so a new version takes effect at once.
  'cache-control': 'no-cache',
});

/** The console has no cookies, so another site cannot send authenticated requests (CSRF). Its files hold no secret. */
export const registerConsole = (app: FastifyInstance): void => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
  const [, importMap = ''] =
    /<script type="importmap">(.*?)<\/script>/s.exec(read(`${FOLDER}/index.html`)) ?? [];
  const headers = securityHeaders(importMap);
  for (const path of FILES) {
    const file = memoryFile(TYPES[extname(path)] ?? '', read(path));
    const url = path.endsWith('index.html') ? '/' : `/console/${basename(path)}`;
    app.get(url, { config: { open: true } }, (request, reply) => {
      void reply.headers(headers);
      return sendMemoryFile(request, reply, file);
    });
  }
};
