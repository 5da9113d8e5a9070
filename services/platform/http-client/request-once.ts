import { Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Egress } from '../egress/http-client.ts';
import { BlockedTarget } from '../egress/ssrf-guard.ts';
import { checkTargetUrl } from '../egress/check-target-url.ts';

/** Limit from connecting to the last byte; a server that sends slowly gets no more. */
export const REQUEST_TIMEOUT_MS = 30_000;
export const BODY_MAX_BYTES = 8 * 1024 ** 2;

export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`The body has more than ${maxBytes} bytes.`);
    this.name = 'BodyTooLarge';
  }
}

export type Answer = {
  readonly status: number;
  /** Names are in lower case. Repeated headers are joined with commas (RFC 9110, 5.3). */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type Route = {
  readonly egress: Egress;
  /**
   * A loopback origin gets all requests, each with its `Host` header; `null` sends each to its own host. With it no URL
   * may name a loopback address.
   */
  readonly via: string | null;
};

export type RequestOptions = {
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** `fail` throws `BodyTooLarge`; `cut` returns the first `maxBytes`. */
  readonly overflow: 'fail' | 'cut';
  readonly signal: AbortSignal;
};

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const ignore = (): void => undefined;

const decoded = (body: Readable, encoding: string): Readable => {
  // An aborted body emits an error. Without a listener, that error would end the process.
  body.on('error', ignore);
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  const decoder = DECODERS[name]?.();
  if (decoder === undefined) {
    body.destroy();
    throw new Error(`The content encoding "${name.slice(0, 40)}" was not requested.`);
  }
  body.on('error', (error) => decoder.destroy(error));
  decoder.on('close', () => body.destroy());
  return body.pipe(decoder);
};

const readBody = async (body: Readable, { maxBytes, overflow }: RequestOptions): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes <= maxBytes) {
      parts.push(part);
      continue;
    }
    if (overflow === 'fail') throw new BodyTooLarge(maxBytes);
    parts.push(part.subarray(0, part.length - (bytes - maxBytes)));
    break;
  }
  return Buffer.concat(parts);
};

/** Throws `BlockedTarget` for a URL that must not be called. */
export const requireTarget = ({ egress, via }: Route, url: URL): void => {
  const fault = checkTargetUrl(url.href, via === null ? egress.rules : { allowLoopback: false });
  if (fault !== null) throw new BlockedTarget(fault);
};

/** Follows no redirect. Throws `BlockedTarget`, `BodyTooLarge`, an abort or a network error. */
export const requestOnce = async (route: Route, url: URL, options: RequestOptions): Promise<Answer> => {
  requireTarget(route, url);
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
  const reply = await route.egress.dispatcher.request({
    origin: route.via ?? url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    headers: { ...options.headers, host: url.host, 'accept-encoding': 'gzip, br' },
    signal,
  });
  const headers = Object.fromEntries(
    Object.entries(reply.headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
  const body = await readBody(decoded(reply.body, headers['content-encoding'] ?? ''), options);
  return { status: reply.statusCode, headers, body };
};

export const REDIRECTS_MAX = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** `null` when the response is not a redirect. Throws when the location is absent or is not a URL. */
export const nextLocation = (
  { status, headers }: Pick<Answer, 'status' | 'headers'>,
  from: URL,
): URL | null => {
  if (!REDIRECTS.has(status)) return null;
  const location = headers['location'] ?? '';
  if (location === '' || !URL.canParse(location, from.href))
    throw new Error('A redirect has no valid location.');
  const to = new URL(location, from.href);
  to.hash = '';
  return to;
};
