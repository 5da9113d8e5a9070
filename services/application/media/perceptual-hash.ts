import phashModule from 'sharp-phash';
import { SAME_PICTURE_MAX_BITS } from '#contracts/values/media/creatives.ts';
import { DECODER_OPTIONS, faultOfError, type ImageFault, sizeOfImage } from './image-decoder.ts';

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

/** True for hashes of the same picture. */
export const isSamePicture = (one: string, other: string): boolean => {
  const different = BigInt.asUintN(HASH_BITS, BigInt(`0x${one}`) ^ BigInt(`0x${other}`)).toString(2);
  return different.replaceAll('0', '').length <= SAME_PICTURE_MAX_BITS;
};
