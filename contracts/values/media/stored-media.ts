/** Media files in the service's own object store, and their place in stored JSON texts. */

const SHA256 = /^[0-9a-f]{64}$/;
const SHA256_LENGTH = 64;

/** Path of signed URLs of media files. The signature replaces the API key until it expires. */
export const MEDIA_PATH = '/v1/media';

/** Returns the key of a media file in the object store. A file is stored once for all ads. `sha256`: 64 hex digits. */
export const mediaKeyOf = (sha256: string): string =>
  `media/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;

/** Returns the key of the thumbnail of a stored image. `sha256`: the hash of the image. */
export const thumbnailKeyOf = (sha256: string): string => `${mediaKeyOf(sha256)}-thumb.webp`;

/** Returns the SHA-256 in the key of a media file; `null` for any other key. */
export const sha256OfMediaKey = (objectKey: string | null): string | null => {
  const sha256 = objectKey?.slice(-SHA256_LENGTH) ?? '';
  return SHA256.test(sha256) && mediaKeyOf(sha256) === objectKey ? sha256 : null;
};

/** End of the name of a thumbnail in a signed URL. The rest is the SHA-256 of its image. */
export const THUMBNAIL_NAME_END = '.thumb';

/** Returns the key of the file that a signed URL names: a SHA-256, or one with the end of a thumbnail's name. */
export const keyOfMediaName = (name: string): string =>
  name.endsWith(THUMBNAIL_NAME_END)
    ? thumbnailKeyOf(name.slice(0, -THUMBNAIL_NAME_END.length))
    : mediaKeyOf(name);

/** SQL of `mediaKeyOf`. `sha256` is an SQL text. */
export const mediaKeySql = (sha256: string): string =>
  `'media/' || left(${sha256}, 2) || '/' || substr(${sha256}, 3, 2) || '/' || ${sha256}`;

/**
 * The placeholder for the start of a signed URL: the mark, then the name of the file. The API signs it when it
 * replies, because a signature expires. JSON escapes control characters in values, so a raw U+0002 occurs in no other
 * place of a text.
 */
export const MEDIA_MARK = '\u0002';
const STORED_MEDIA = new RegExp(`${MEDIA_MARK}([0-9a-f]{64}(?:\\${THUMBNAIL_NAME_END})?)`, 'g');

/** The columns of a creative file that tell where its bytes are. */
export type MediaLocation = {
  readonly creative_key: string;
  readonly media_url: string | null;
  readonly object_key: string | null;
};

/** The columns of a creative file that tell where its still images are. */
export type StillLocation = {
  readonly poster_url: string | null;
  readonly poster_object_key: string | null;
  readonly thumb_object_key: string | null;
};

/** Returns the observed URL of a file, or else the placeholder of a stored file; `null` when neither is there. */
export const mediaUrlOf = ({ creative_key, media_url, object_key }: MediaLocation): string | null =>
  media_url ?? (object_key === mediaKeyOf(creative_key) ? `${MEDIA_MARK}${creative_key}` : null);

/** Returns the observed URL of a poster, or else the placeholder of a stored one; `null` when neither is there. */
export const posterUrlOf = ({ poster_url, poster_object_key }: Omit<StillLocation, 'thumb_object_key'>) => {
  const sha256 = sha256OfMediaKey(poster_object_key);
  return poster_url ?? (sha256 === null ? null : `${MEDIA_MARK}${sha256}`);
};

/**
 * Returns the smallest still image of a file: the placeholder of its stored thumbnail, or else its poster, or else the
 * file itself. A thumbnail of another file is not shown.
 */
export const thumbUrlOf = (file: MediaLocation & StillLocation): string | null => {
  const pictures = [file.creative_key, sha256OfMediaKey(file.poster_object_key)];
  const picture = pictures.find(
    (sha256) => sha256 !== null && thumbnailKeyOf(sha256) === file.thumb_object_key,
  );
  if (picture != null) return `${MEDIA_MARK}${picture}${THUMBNAIL_NAME_END}`;
  return posterUrlOf(file) ?? mediaUrlOf(file);
};

/**
 * Unescapes placeholders in the values of these fields in a JSON text. Observed texts cannot contain `"field":"` unescaped,
 * so they cannot forge a placeholder.
 */
export const unescapeStoredMedia = (json: string, fields: readonly string[]): string =>
  fields.reduce((text, field) => text.replaceAll(`"${field}":"\\u0002`, `"${field}":"${MEDIA_MARK}`), json);

/** Replaces the placeholders in a JSON text by URLs. `urlOf` receives the name of a file. */
export const replaceStoredMedia = (json: string, urlOf: (name: string) => string): string =>
  json.includes(MEDIA_MARK)
    ? json.replaceAll(STORED_MEDIA, (_mark, name: string) => JSON.stringify(urlOf(name)).slice(1, -1))
    : json;
