import { openImage } from './image-decoder.ts';
import { THUMBNAIL_MAX_BYTES } from './make-thumbnail.ts';

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
