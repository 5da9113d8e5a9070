import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dispatcher } from 'undici';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#contracts/values/time.ts';
import { HEAD_BYTES, IMAGE_MAX_BYTES, type MediaType, mediaTypeOf } from '#application/media/media-type.ts';
import { retryAfterMs } from '#platform/channels/send-outcome.ts';
import { BlockedTarget } from '#platform/egress/ssrf-guard.ts';
import {
  REDIRECTS_MAX,
  type Route,
  nextLocation,
  requireTarget,
} from '#platform/http-client/request-once.ts';

const ABANDONED_MS = HOUR_MS;
const FOLDER = join(tmpdir(), 'ad-intelligence-media');

/** Removes files that killed processes left. */
export const openSpoolFolder = async (nowMs: number): Promise<void> => {
  await mkdir(FOLDER, { recursive: true, mode: 0o700 });
  for (const name of await readdir(FOLDER)) {
    const path = join(FOLDER, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: nowMs }));
    if (nowMs - mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }
};

export const temporaryFile = (): AsyncDisposable & { readonly path: string } => {
  const path = join(FOLDER, randomUUID());
  return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
};

/** Time limit from connecting to the last byte; slow servers get no extension. */
const DOWNLOAD_LIMIT_MS = { image: MINUTE_MS, video: 10 * MINUTE_MS } as const;
const BUSY_REST_MS = 5 * MINUTE_MS;
const BUSY_REST_MIN_MS = 30 * SECOND_MS;
/** Statuses after which the address never works again. */
const GONE: ReadonlySet<number> = new Set([400, 401, 403, 404, 410, 451]);

export type Download =
  | { readonly kind: 'downloaded'; readonly bytes: number; readonly sha256: string; readonly type: MediaType }
  /** The file may be available at a newer address. */
  | { readonly kind: 'gone'; readonly reason: string }
  /** The archive stores no such file, at any address. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The host asked for a pause. */
  | { readonly kind: 'busy'; readonly restMs: number }
  | { readonly kind: 'failed'; readonly reason: string };

export type DownloadRequest = {
  readonly kind: 'image' | 'video';
  readonly path: string;
  readonly now: Date;
  readonly signal: AbortSignal;
};

export type Downloader = Route & { readonly userAgent: string; readonly limitMs?: number };

class Refused extends Error {}

const send = (route: Downloader, url: URL, signal: AbortSignal): Promise<Dispatcher.ResponseData> => {
  requireTarget(route, url);
  return route.egress.dispatcher.request({
    origin: route.via ?? url.origin,
    path: url.pathname + url.search,
    method: 'GET',
    headers: {
      host: url.host,
      'user-agent': route.userAgent,
      accept: 'image/*, video/*',
      'accept-encoding': 'identity',
    },
    signal,
  });
};

const headersOf = ({ headers }: Dispatcher.ResponseData): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );

/** The first bytes determine the type and its limit. Throws `Refused`. */
const receive = async (
  { body }: Dispatcher.ResponseData,
  headers: Readonly<Record<string, string>>,
  { kind, path }: DownloadRequest,
): Promise<Extract<Download, { readonly kind: 'downloaded' }>> => {
  if (!['', 'identity'].includes((headers['content-encoding'] ?? '').trim().toLowerCase())) {
    throw new Refused('encoded body');
  }
  const digest = createHash('sha256');
  const file = await open(path, 'w');
  let bytes = 0;
  /** Checks the first bytes and writes them. Returns the type that they show. */
  const begin = async (head: Buffer): Promise<MediaType> => {
    const type = mediaTypeOf(head.subarray(0, HEAD_BYTES));
    if (type === null) throw new Refused('not a picture or film');
    if (kind === 'image' && !type.contentType.startsWith('image/')) {
      throw new Refused('a film in place of a picture');
    }
    if (Number(headers['content-length'] ?? 0) > type.maxBytes) throw new Refused('too large');
    await file.appendFile(head);
    return type;
  };
  try {
    let head = Buffer.alloc(0);
    let type: MediaType | null = null;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      digest.update(chunk);
      bytes += chunk.length;
      if (bytes > (type?.maxBytes ?? IMAGE_MAX_BYTES)) throw new Refused('too large');
      if (type !== null) {
        await file.appendFile(chunk);
        continue;
      }
      head = Buffer.concat([head, chunk]);
      if (head.length >= HEAD_BYTES) type = await begin(head);
    }
    type ??= await begin(head);
    return { kind: 'downloaded', bytes, sha256: digest.digest('hex'), type };
  } finally {
    await file.close();
  }
};

const reasonOf = (error: unknown): string => {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError') return 'took too long';
  return (code ?? message ?? String(error)).slice(0, 200);
};

/** Downloads through the SSRF guard. The first bytes decide the type, not a header. Throws only on abort. */
export const downloadFile = async (
  downloader: Downloader,
  address: string,
  request: DownloadRequest,
): Promise<Download> => {
  const limit = AbortSignal.timeout(downloader.limitMs ?? DOWNLOAD_LIMIT_MS[request.kind]);
  const signal = AbortSignal.any([request.signal, limit]);
  try {
    let url = new URL(address);
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const reply = await send(downloader, url, signal);
      // An aborted body emits an error, which would end the process without a listener.
      reply.body.on('error', () => undefined);
      const headers = headersOf(reply);
      const status = reply.statusCode;
      try {
        if (status === 200) return await receive(reply, headers, request);
      } finally {
        reply.body.destroy();
      }
      const location = nextLocation({ status, headers }, url);
      if (location !== null) {
        url = location;
        continue;
      }
      if (GONE.has(status)) return { kind: 'gone', reason: `answered ${status}` };
      if (status !== 429) return { kind: 'failed', reason: `answered ${status}` };
      const restMs = retryAfterMs(headers['retry-after'], request.now) ?? BUSY_REST_MS;
      return { kind: 'busy', restMs: Math.max(restMs, BUSY_REST_MIN_MS) };
    }
    return { kind: 'gone', reason: `more than ${REDIRECTS_MAX} redirects` };
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof Refused) return { kind: 'refused', reason: error.message };
    if (error instanceof BlockedTarget) return { kind: 'gone', reason: 'blocked address' };
    return { kind: 'failed', reason: reasonOf(error) };
  }
};
