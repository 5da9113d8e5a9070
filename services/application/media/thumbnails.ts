import { buffer } from 'node:stream/consumers';
import { mediaKeyOf, thumbnailKeyOf } from '#contracts/values/media/stored-media.ts';
import { createConcurrencyLimit, createSemaphore } from '#platform/concurrency/queues.ts';
import type { ObjectStore, OpenObject } from '#platform/object-store/object-store.ts';
import { type ImageFault, faultOfError, faultOfHead, openImage, sizeOfImage } from './image-decoder.ts';
import { HEAD_BYTES } from './media-type.ts';

export const THUMBNAIL_MAX_PIXELS = 320;
export const THUMBNAIL_MAX_BYTES = 60 * 1024;

/** Qualities of WebP, tried until the thumbnail is small enough. */
const QUALITIES = [80, 60, 40, 20, 1];

/** `width` and `height` are those of the image, not of the thumbnail. */
export type Thumbnail = { readonly webp: Buffer; readonly width: number; readonly height: number };

/**
 * WebP of at most 320 by 320 pixels and 60 KiB; smaller images keep their size. Only the first frame of an animation is
 * shown.
 */
export const makeThumbnail = async (file: Buffer): Promise<Thumbnail | ImageFault> => {
  const size = await sizeOfImage(file);
  if (typeof size === 'string') return size;
  try {
    const reduced = await openImage(file)
      .resize(THUMBNAIL_MAX_PIXELS, THUMBNAIL_MAX_PIXELS, { fit: 'inside', withoutEnlargement: true })
      .toColourspace('srgb')
      .png({ compressionLevel: 1 })
      .toBuffer();
    for (const quality of QUALITIES) {
      const webp = await openImage(reduced).webp({ quality }).toBuffer();
      if (webp.length <= THUMBNAIL_MAX_BYTES) return { webp, ...size };
    }
    return 'too_large';
  } catch (error) {
    return faultOfError(error);
  }
};

/** Tried in turn. The last always fits: 224 lines of 224 bytes with 256 colours are 50 KB before compression. */
const SIZES_PIXELS = [320, 224];

/**
 * PNG of at most 60 KiB and 256 colours, for programs that do not show WebP; smaller where it would not fit. `webp`:
 * output of `makeThumbnail`.
 */
export const thumbnailAsPng = async (webp: Buffer): Promise<Buffer> => {
  for (const size of SIZES_PIXELS) {
    const png = await openImage(webp)
      .resize(size, size, { fit: 'inside', withoutEnlargement: true })
      .png({ palette: true, effort: 1 })
      .toBuffer();
    if (png.length <= THUMBNAIL_MAX_BYTES) return png;
  }
  throw new Error('a thumbnail of 224 pixels and 256 colours fits');
};

/** Each image is up to 20 MiB, and up to 400 MB while it is decoded. */
const DECODED_AT_ONCE = 2;
const CALLS_AT_ONCE = 64;

export const THUMBNAIL_TYPE = 'image/webp';

/** `not_stored`: the image itself is not in the object store. */
export type ThumbnailAnswer = { readonly webp: Buffer } | { readonly fault: ImageFault | 'not_stored' };

export type Thumbnails = {
  /**
   * Stores the thumbnail on the first call. `sha256`: 64 hex digits, the creative key. Throws `Refusal`
   * (`limit_reached`) when 64 calls wait, and errors of the object store.
   */
  readonly thumbnailOf: (sha256: string) => Promise<ThumbnailAnswer>;
};

const headOf = async (object: OpenObject): Promise<Buffer> => {
  const end = Math.min(object.bytes, HEAD_BYTES) - 1;
  return end < 0 ? Buffer.alloc(0) : buffer(object.read({ start: 0, end }));
};

export const createThumbnails = (objectStore: ObjectStore): Thumbnails => {
  const limit = createConcurrencyLimit(CALLS_AT_ONCE, 'thumbnails');
  const slots = createSemaphore(DECODED_AT_ONCE);
  const pending = new Map<string, Promise<ThumbnailAnswer>>();

  const make = async (sha256: string): Promise<ThumbnailAnswer> => {
    const stored = await objectStore.open(thumbnailKeyOf(sha256));
    if (stored !== null) return { webp: await buffer(stored.read()) };
    const image = await objectStore.open(mediaKeyOf(sha256));
    if (image === null) return { fault: 'not_stored' };
    const fault = faultOfHead(await headOf(image), image.bytes);
    if (fault !== null) return { fault };
    await slots.acquire();
    try {
      const made = await makeThumbnail(await buffer(image.read()));
      if (typeof made === 'string') return { fault: made };
      await objectStore.write(
        thumbnailKeyOf(sha256),
        (async function* () {
          yield made.webp;
        })(),
      );
      return { webp: made.webp };
    } finally {
      slots.release();
    }
  };

  return {
    thumbnailOf: (sha256) => {
      const running = pending.get(sha256);
      if (running) return running;
      const answer = limit(() => make(sha256)).finally(() => pending.delete(sha256));
      pending.set(sha256, answer);
      return answer;
    },
  };
};
