import { createHash, hash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dispatcher } from 'undici';
import { createReadStream } from 'node:fs';
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
import { VIDEO_QUOTA_SHARE } from '#application/media-archive/archive-status.ts';
import { mediaKeyOf, thumbnailKeyOf } from '#contracts/values/media/stored-media.ts';
import type { Clock } from '#platform/clock.ts';
import type { Semaphore } from '#platform/concurrency/queues.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type MeasuredImage, type VideoTools, measureImage } from './measure.ts';
import {
  type Claimed,
  type StoredFile,
  endFile,
  failTry,
  finishFile,
  putBack,
  reserve,
} from './wanted-store.ts';

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

/** Delay before a file that exceeds the quota is retried. */
const NO_ROOM_REST_MS = HOUR_MS;
/** Delay before an image is retried whose decoder timed out on a busy machine. */
const SLOW_REST_MS = 5 * MINUTE_MS;

export type Archiver = {
  readonly database: Database;
  readonly objectStore: ObjectStore;
  readonly downloader: Downloader;
  readonly videoTools: VideoTools;
  /** Bounds the images that are decoded at once. */
  readonly decoding: Semaphore;
  readonly quotaBytes: number;
  readonly clock: Clock;
};

export type FileOutcome = 'stored' | 'missed' | 'refused' | 'retried';

type Downloaded = Extract<Download, { readonly kind: 'downloaded' }>;
type Still = {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly image: MeasuredImage;
};

const decode = async ({ decoding }: Archiver, path: string) => {
  await decoding.acquire();
  try {
    return await measureImage(path);
  } finally {
    decoding.release();
  }
};

/** Returns the poster of the library, or else the first frame; `null` without a valid one. */
const posterOf = async (
  archiver: Archiver,
  claimed: Claimed,
  film: string,
  path: string,
  signal: AbortSignal,
): Promise<Still | null> => {
  const shown = claimed.posterUrl;
  if (shown !== null && URL.canParse(shown)) {
    const request = { kind: 'image' as const, path, now: archiver.clock.now(), signal };
    const download = await downloadFile(archiver.downloader, shown, request);
    if (download.kind === 'downloaded') {
      const image = await decode(archiver, path);
      if (typeof image !== 'string') return { ...download, path, image };
    }
  }
  if (!(await archiver.videoTools.extractStill(film, path, signal))) return null;
  const image = await decode(archiver, path);
  if (typeof image === 'string') return null;
  const bytes = await readFile(path);
  return { path, sha256: hash('sha256', bytes, 'hex'), bytes: bytes.length, image };
};

const writeOnce = async (
  { objectStore }: Archiver,
  key: string,
  openContent: () => AsyncIterable<Uint8Array>,
): Promise<void> => {
  if (!(await objectStore.exists(key))) await objectStore.write(key, openContent());
};

const bytesOf = async function* (bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
};

/** Returns `retried` when the quota is full. Records the file last. */
const store = async (
  archiver: Archiver,
  claimed: Claimed,
  main: Downloaded & { readonly path: string },
  still: Still | null,
  file: StoredFile,
): Promise<FileOutcome> => {
  const { database, quotaBytes, clock } = archiver;
  const objects = [
    { key: mediaKeyOf(main.sha256), bytes: main.bytes, content: () => createReadStream(main.path) },
    ...(still === null || still.sha256 === main.sha256
      ? []
      : [{ key: mediaKeyOf(still.sha256), bytes: still.bytes, content: () => createReadStream(still.path) }]),
    ...(still === null
      ? []
      : [
          {
            key: thumbnailKeyOf(still.sha256),
            bytes: still.image.thumbnail.length,
            content: () => bytesOf(still.image.thumbnail),
          },
        ]),
  ];
  const maxBytes = file.media_kind === 'video' ? quotaBytes * VIDEO_QUOTA_SHARE : quotaBytes;
  const reservations = objects.map(({ key, bytes }) => ({ objectKey: key, bytes }));
  if (!(await reserve(database, reservations, maxBytes))) {
    await putBack(
      database,
      claimed,
      new Date(clock.now().getTime() + NO_ROOM_REST_MS),
      'no room in the quota',
    );
    return 'retried';
  }
  for (const { key, content } of objects) await writeOnce(archiver, key, content);
  await finishFile(database, claimed, {
    file,
    objectKeys: objects.map(({ key }) => key),
    fetchedAt: clock.now(),
  });
  return 'stored';
};

const storeImage = async (
  archiver: Archiver,
  claimed: Claimed,
  main: Downloaded & { readonly path: string },
): Promise<FileOutcome> => {
  const image = await decode(archiver, main.path);
  if (image === 'too_slow') {
    const retryAt = new Date(archiver.clock.now().getTime() + SLOW_REST_MS);
    await putBack(archiver.database, claimed, retryAt, 'the decoder took too long');
    return 'retried';
  }
  if (typeof image === 'string') {
    await endFile(archiver.database, claimed, 'refused', image.replaceAll('_', ' '));
    return 'refused';
  }
  return store(
    archiver,
    claimed,
    main,
    { ...main, image },
    {
      ...fileOf(main),
      media_kind: 'image',
      width: image.width,
      height: image.height,
      duration_seconds: null,
      perceptual_hash: image.perceptualHash,
      thumb_object_key: thumbnailKeyOf(main.sha256),
      poster_object_key: null,
    },
  );
};

const storeVideo = async (
  archiver: Archiver,
  claimed: Claimed,
  main: Downloaded & { readonly path: string },
  signal: AbortSignal,
): Promise<FileOutcome> => {
  await using poster = temporaryFile();
  const measured = await archiver.videoTools.measure(main.path, signal);
  const still = await posterOf(archiver, claimed, main.path, poster.path, signal);
  // Awaited, because the poster's file is removed when this function ends.
  return await store(archiver, claimed, main, still, {
    ...fileOf(main),
    media_kind: 'video',
    width: measured.width,
    height: measured.height,
    duration_seconds: measured.durationSeconds,
    perceptual_hash: still?.image.perceptualHash ?? null,
    thumb_object_key: still === null ? null : thumbnailKeyOf(still.sha256),
    poster_object_key: still === null ? null : mediaKeyOf(still.sha256),
  });
};

const fileOf = ({ sha256, bytes, type }: Downloaded) =>
  ({
    type: 'creative.file',
    creative_key: sha256,
    content_type: type.contentType,
    bytes,
    frame_times_seconds: null,
    media_url: null,
    object_key: mediaKeyOf(sha256),
    poster_url: null,
  }) as const;

/** Archives a claimed file. Repeatable: it records the file last. Throws `RowLeaseLost`, aborts and server errors. */
export const archiveFile = async (
  archiver: Archiver,
  claimed: Claimed,
  signal: AbortSignal,
): Promise<FileOutcome> => {
  const { database, downloader, clock } = archiver;
  await using spool = temporaryFile();
  const { path } = spool;
  const now = clock.now();
  const download = await downloadFile(downloader, claimed.url, { kind: claimed.kind, path, now, signal });
  switch (download.kind) {
    case 'downloaded': {
      const main = { ...download, path };
      return main.type.contentType.startsWith('image/')
        ? await storeImage(archiver, claimed, main)
        : await storeVideo(archiver, claimed, main, signal);
    }
    case 'gone':
      await endFile(database, claimed, 'missed', download.reason);
      return 'missed';
    case 'refused':
      await endFile(database, claimed, 'refused', download.reason);
      return 'refused';
    case 'busy':
      await putBack(database, claimed, new Date(now.getTime() + download.restMs), 'answered 429');
      return 'retried';
    case 'failed':
      await failTry(database, claimed, clock.now(), download.reason);
      return 'retried';
  }
};
