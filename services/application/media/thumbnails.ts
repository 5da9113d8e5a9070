import { buffer } from 'node:stream/consumers';
import { mediaKeyOf, thumbnailKeyOf } from '#contracts/values/media/stored-media.ts';
import { createConcurrencyLimit } from '#platform/concurrency/concurrency-limit.ts';
import { createSemaphore } from '#platform/concurrency/semaphore.ts';
import type { ObjectStore, OpenObject } from '#platform/object-store/object-store.ts';
import { HEAD_BYTES } from './media-type.ts';
import { faultOfHead, type ImageFault } from './image-decoder.ts';
import { makeThumbnail } from './make-thumbnail.ts';

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
