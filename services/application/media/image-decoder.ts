import { createRequire } from 'node:module';
import type sharp from 'sharp';
import type { Sharp, SharpOptions } from 'sharp';
import { HEAD_BYTES, IMAGE_MAX_BYTES, mediaTypeOf } from './media-type.ts';

/** Maximum width times height of an image that is decoded. 50 megapixels need up to 400 MB as 16-bit RGBA. */
export const IMAGE_MAX_PIXELS = 50_000_000;

/** Seconds for one image, without the wait for a native thread. A PNG of 50 megapixels took 3 s on a busy machine. */
const DECODE_TIMEOUT_SECONDS = 10;

/** Native threads for each image. The callers bound the number of images. */
const THREADS_PER_IMAGE = 1;

/** Loaders of libvips for the types of `mediaTypeOf`. All others stay off: SVG, PDF, TIFF, HEIF and more. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif'];

let decoder: typeof sharp | null = null;
/** Loads the decoder when the first image needs it, with all other loaders off before it decodes anything. */
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

/**
 * Why a file has no thumbnail and no hash. The same bytes have the same fault each time, except for `too_slow`, which
 * a busy machine can cause.
 */
export type ImageFault = 'not_an_image' | 'too_large' | 'too_many_pixels' | 'too_slow' | 'broken';

/** Width and height in pixels, as shown: after the rotation that the file asks for. */
export type ImageSize = { readonly width: number; readonly height: number };

/** The limits of a decoder. Warnings, such as a faulty colour profile, do not make an image broken. */
export const DECODER_OPTIONS = {
  limitInputPixels: IMAGE_MAX_PIXELS,
  failOn: 'error',
  pages: 1,
} as const satisfies SharpOptions;

/** Returns the fault that the first bytes and the length of a file show, or `null`. */
export const faultOfHead = (head: Buffer, bytes: number): ImageFault | null => {
  const type = mediaTypeOf(head.subarray(0, HEAD_BYTES));
  if (!type?.contentType.startsWith('image/')) return 'not_an_image';
  return bytes > IMAGE_MAX_BYTES ? 'too_large' : null;
};

/**
 * Reads the size of an image from its header, and checks the limits. It decodes no pixels, so a small file that
 * unpacks to a huge image costs nothing.
 */
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

/** Opens an image whose size was checked. Its first frame is decoded, turned as the file asks for. */
export const openImage = (file: Buffer): Sharp =>
  openDecoder()(file, DECODER_OPTIONS).timeout({ seconds: DECODE_TIMEOUT_SECONDS }).autoOrient();

/** Returns the fault that an error of the decoder stands for. */
export const faultOfError = (error: unknown): ImageFault =>
  /timeout/i.test(error instanceof Error ? error.message : '') ? 'too_slow' : 'broken';
