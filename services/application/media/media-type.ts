/** `mediaTypeOf` needs this many bytes. */
export const HEAD_BYTES = 64;

export const IMAGE_MAX_BYTES = 20 * 1024 * 1024;
export const VIDEO_MAX_BYTES = 100 * 1024 * 1024;

export type MediaType = { readonly contentType: string; readonly maxBytes: number };

const image = (contentType: string): MediaType => ({ contentType, maxBytes: IMAGE_MAX_BYTES });
const video = (contentType: string): MediaType => ({ contentType, maxBytes: VIDEO_MAX_BYTES });

const PNG = '89504e470d0a1a0a';
/** First bytes of an EBML file; its document type tells WebM from other Matroska files. */
const EBML = '1a45dfa3';
/** Other brands of the container are pictures (HEIC, AVIF) and QuickTime. */
const MP4_BRAND = /^(isom|iso[2-9]|mp4[12]|avc1|M4V |dash|MSNV|mmp4)$/;

/** `null` for other types. SVG is never accepted: it can hold scripts. */
export const mediaTypeOf = (head: Buffer): MediaType | null => {
  const hex = head.toString('hex');
  const text = head.toString('latin1');
  if (hex.startsWith('ffd8ff')) return image('image/jpeg');
  if (hex.startsWith(PNG)) return image('image/png');
  if (/^GIF8[79]a/.test(text)) return image('image/gif');
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return image('image/webp');
  if (text.slice(4, 8) === 'ftyp' && MP4_BRAND.test(text.slice(8, 12))) return video('video/mp4');
  if (hex.startsWith(EBML) && text.includes('webm')) return video('video/webm');
  return null;
};
