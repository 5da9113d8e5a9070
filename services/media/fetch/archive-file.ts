import { createReadStream } from 'node:fs';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { VIDEO_QUOTA_SHARE } from '#application/media-archive/archive-status.ts';
import { mediaKeyOf, thumbnailKeyOf } from '#contracts/values/media/stored-media.ts';
import { HOUR_MS, MINUTE_MS } from '#contracts/values/time.ts';
import type { Clock } from '#platform/clock.ts';
import type { Semaphore } from '#platform/concurrency/queues.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { type MeasuredImage, type VideoTools, measureImage } from '../measure.ts';
import {
  type Claimed,
  endFile,
  failTry,
  finishFile,
  putBack,
  reserve,
  type StoredFile,
} from '../store/wanted-store.ts';
import { type Download, type Downloader, downloadFile, temporaryFile } from './download-file.ts';

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
