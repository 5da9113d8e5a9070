/** Media files in the service's own object store, and their place in stored JSON texts. */

/** Path of signed URLs of media files. The signature replaces the API key until it expires. */
export const MEDIA_PATH = '/v1/media';

/** Returns the key of a media file in the object store. A file is stored once for all ads. `sha256`: 64 hex digits. */
export const mediaKeyOf = (sha256: string): string =>
  `media/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;

/** Returns the key of the thumbnail of a stored image. `sha256`: the hash of the image. */
export const thumbnailKeyOf = (sha256: string): string => `${mediaKeyOf(sha256)}-thumb.webp`;

/** SQL of `mediaKeyOf`. `sha256` is an SQL text. */
export const mediaKeySql = (sha256: string): string =>
  `'media/' || left(${sha256}, 2) || '/' || substr(${sha256}, 3, 2) || '/' || ${sha256}`;

/**
 * The placeholder for the start of a signed URL: the mark, then the SHA-256 of the file. The API signs it when it
 * replies, because a signature expires. JSON escapes control characters in values, so a raw U+0002 occurs in no other
 * place of a text.
 */
export const MEDIA_MARK = '\u0002';
const STORED_MEDIA = new RegExp(`${MEDIA_MARK}([0-9a-f]{64})`, 'g');

/** The columns of a creative file that tell where its bytes are. */
export type MediaLocation = {
  readonly creative_key: string;
  readonly media_url: string | null;
  readonly object_key: string | null;
};

/** Returns the observed URL of a file, or else the placeholder of a stored file; `null` when neither is there. */
export const mediaUrlOf = ({ creative_key, media_url, object_key }: MediaLocation): string | null =>
  media_url ?? (object_key === mediaKeyOf(creative_key) ? `${MEDIA_MARK}${creative_key}` : null);

/**
 * Unescapes placeholders in the values of `field` in a JSON text. Observed texts cannot contain `"field":"` unescaped,
 * so they cannot forge a placeholder.
 */
export const unescapeStoredMedia = (json: string, field: string): string =>
  json.replaceAll(`"${field}":"\\u0002`, `"${field}":"${MEDIA_MARK}`);

/** Replaces the placeholders in a JSON text by URLs. */
export const replaceStoredMedia = (json: string, urlOf: (sha256: string) => string): string =>
  json.includes(MEDIA_MARK)
    ? json.replaceAll(STORED_MEDIA, (_mark, sha256: string) => JSON.stringify(urlOf(sha256)).slice(1, -1))
    : json;
