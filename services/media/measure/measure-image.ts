import { readFile } from 'node:fs/promises';
import type { ImageFault } from '#application/media/image-decoder.ts';
import { makeThumbnail } from '#application/media/make-thumbnail.ts';
import { perceptualHashOf } from '#application/media/perceptual-hash.ts';
import { PERCEPTUAL_HASH_SET_BITS_MIN } from '#contracts/values/media/creatives.ts';

export type MeasuredImage = {
  readonly width: number;
  readonly height: number;
  /** `null` for a picture without structure: all plain areas have equal hashes. */
  readonly perceptualHash: string | null;
  readonly thumbnail: Buffer;
};

const HASH_BITS = 64;

const tellsApart = (hash: string): boolean => {
  const set = BigInt(`0x${hash}`).toString(2).replaceAll('0', '').length;
  return set >= PERCEPTUAL_HASH_SET_BITS_MIN && set <= HASH_BITS - PERCEPTUAL_HASH_SET_BITS_MIN;
};

export const measureImage = async (path: string): Promise<MeasuredImage | ImageFault> => {
  const file = await readFile(path);
  const thumbnail = await makeThumbnail(file);
  if (typeof thumbnail === 'string') return thumbnail;
  const measured = await perceptualHashOf(file);
  if (typeof measured === 'string') return measured;
  const { webp, width, height } = thumbnail;
  const perceptualHash = tellsApart(measured.hash) ? measured.hash : null;
  return { width, height, perceptualHash, thumbnail: webp };
};
