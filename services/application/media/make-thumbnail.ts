import { faultOfError, type ImageFault, openImage, sizeOfImage } from './image-decoder.ts';

export const THUMBNAIL_MAX_PIXELS = 320;
export const THUMBNAIL_MAX_BYTES = 60 * 1024;

/** Qualities of WebP, tried until the thumbnail is small enough. */
const QUALITIES = [80, 60, 40, 20, 1];

/** `width` and `height` are those of the image, not of the thumbnail. */
export type Thumbnail = {
  readonly webp: Buffer;
  readonly width: number;
  readonly height: number;
};

/**
 * WebP of at most 320 by 320 pixels and 60 KiB; smaller images keep their size. Only the first frame of an animation is
 * shown.
 */
export const makeThumbnail = async (file: Buffer): Promise<Thumbnail | ImageFault> => {
  const size = await sizeOfImage(file);
  if (typeof size === 'string') return size;
  try {
    const reduced = await openImage(file)
      .resize(THUMBNAIL_MAX_PIXELS, THUMBNAIL_MAX_PIXELS, {
        fit: 'inside',
        withoutEnlargement: true,
      })
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
