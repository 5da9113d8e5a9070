import { createRequire } from 'node:module';
import type sharp from 'sharp';
import type { Sharp, SharpOptions } from 'sharp';
import phashModule from 'sharp-phash';
import { HEAD_BYTES, IMAGE_MAX_BYTES, mediaTypeOf } from './media-type.ts';

/** 50 megapixels need up to 400 MB as 16-bit RGBA. */
export const IMAGE_MAX_PIXELS = 50_000_000;

/** Limit for one image, without the wait for a native thread. A PNG of 50 megapixels took 3 s on a busy machine. */
const DECODE_TIMEOUT_SECONDS = 10;

/** Callers bound the number of images. */
const THREADS_PER_IMAGE = 1;

/** Loaders of libvips for `mediaTypeOf`. Others stay off: SVG, PDF, TIFF, HEIF and more. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif'];

let decoder: typeof sharp | null = null;
/** Loads the decoder with the first image, and turns other loaders off before. */
const openDecoder = (): typeof sharp => {
  if (decoder !== null) return decoder;
  const opened = createRequire(import.meta.url)('sharp') as typeof sharp;
  opened.block({ operation: ['VipsForeignLoad'] });
  opened.unblock({
    operation: LOADERS.map((loader) => `VipsForeignLoad${loader}`),
  });
  opened.cache(false);
  opened.concurrency(THREADS_PER_IMAGE);
  decoder = opened;
  return opened;
};

/** Repeatable for the same bytes, except `too_slow`, which a busy machine can cause. */
export type ImageFault = 'not_an_image' | 'too_large' | 'too_many_pixels' | 'too_slow' | 'broken';

/** Pixels as shown, after the rotation that the file asks for. */
export type ImageSize = { readonly width: number; readonly height: number };

/** Warnings, such as a faulty colour profile, do not make an image broken. */
export const DECODER_OPTIONS = {
  limitInputPixels: IMAGE_MAX_PIXELS,
  failOn: 'error',
  pages: 1,
} as const satisfies SharpOptions;

/** By the first bytes and the length; `null` without a fault. */
export const faultOfHead = (head: Buffer, bytes: number): ImageFault | null => {
  const type = mediaTypeOf(head.subarray(0, HEAD_BYTES));
  if (!type?.contentType.startsWith('image/')) return 'not_an_image';
  return bytes > IMAGE_MAX_BYTES ? 'too_large' : null;
};

/** Decodes no pixels, so a small file that unpacks to a huge image costs nothing. */
export const sizeOfImage = async (file: Buffer): Promise<ImageSize | ImageFault> => {
  const fault = faultOfHead(file, file.length);
  if (fault !== null) return fault;
  try {
    const { autoOrient } = await openDecoder()(file, {
      ...DECODER_OPTIONS,
      limitInputPixels: false,
    }).metadata();
    const { width, height } = autoOrient;
    return width * height > IMAGE_MAX_PIXELS ? 'too_many_pixels' : { width, height };
  } catch {
    return 'broken';
  }
};

/** Needs a checked size. Decodes the first frame, turned as the file asks for. */
export const openImage = (file: Buffer): Sharp =>
  openDecoder()(file, DECODER_OPTIONS).timeout({ seconds: DECODE_TIMEOUT_SECONDS }).autoOrient();

export const faultOfError = (error: unknown): ImageFault =>
  /timeout/i.test(error instanceof Error ? error.message : '') ? 'too_slow' : 'broken';

const HASH_BITS = 64;

// The package exports the function itself; its types claim a property `default`.
const phash = phashModule as unknown as (file: Buffer, options: typeof DECODER_OPTIONS) => Promise<string>;

/** 64 bits as 16 lower-case hexadecimal digits. */
export type PerceptualHash = { readonly hash: string };

/**
 * Nearly equal for one picture in other sizes, formats and qualities. Call it after `makeThumbnail`, which ends a slow
 * decoder; the hash cannot.
 */
export const perceptualHashOf = async (file: Buffer): Promise<PerceptualHash | ImageFault> => {
  const size = await sizeOfImage(file);
  if (typeof size === 'string') return size;
  try {
    const bits = await phash(file, DECODER_OPTIONS);
    return {
      hash: BigInt(`0b${bits}`)
        .toString(16)
        .padStart(HASH_BITS / 4, '0'),
    };
  } catch (error) {
    return faultOfError(error);
  }
};
