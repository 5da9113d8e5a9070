const SHA256 = /^[0-9a-f]{64}$/;
const SHA256_LENGTH = 64;

/** The signature replaces the API key until it expires. */
export const MEDIA_PATH = '/v1/media';

/** One file for all ads. `sha256`: 64 hex digits. */
export const mediaKeyOf = (sha256: string): string =>
  `media/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`;

/** `sha256`: that of the image. */
export const thumbnailKeyOf = (sha256: string): string => `${mediaKeyOf(sha256)}-thumb.webp`;

/** `null` for a key that is not of a media file. */
export const sha256OfMediaKey = (objectKey: string | null): string | null => {
  const sha256 = objectKey?.slice(-SHA256_LENGTH) ?? '';
  return SHA256.test(sha256) && mediaKeyOf(sha256) === objectKey ? sha256 : null;
};

export const THUMBNAIL_NAME_END = '.thumb';

export const keyOfMediaName = (name: string): string =>
  name.endsWith(THUMBNAIL_NAME_END)
    ? thumbnailKeyOf(name.slice(0, -THUMBNAIL_NAME_END.length))
    : mediaKeyOf(name);

export const mediaKeySql = (sha256: string): string =>
  `'media/' || left(${sha256}, 2) || '/' || substr(${sha256}, 3, 2) || '/' || ${sha256}`;

/** Stands for a signed URL, before the file name: signatures expire, so the API signs replies. */
export const MEDIA_MARK = '\u0002';
const STORED_MEDIA = new RegExp(`${MEDIA_MARK}([0-9a-f]{64}(?:\\${THUMBNAIL_NAME_END})?)`, 'g');

/** The columns of a creative file that tell where its bytes are. */
export type MediaLocation = {
  readonly creative_key: string;
  readonly media_url: string | null;
  readonly object_key: string | null;
};

export type StillLocation = {
  readonly poster_url: string | null;
  readonly poster_object_key: string | null;
  readonly thumb_object_key: string | null;
};

/** The observed URL, else the placeholder of the stored file; `null` without both. */
export const mediaUrlOf = ({ creative_key, media_url, object_key }: MediaLocation): string | null =>
  media_url ?? (object_key === mediaKeyOf(creative_key) ? `${MEDIA_MARK}${creative_key}` : null);

/** The observed URL, else the placeholder of the stored poster; `null` without both. */
export const posterUrlOf = ({ poster_url, poster_object_key }: Omit<StillLocation, 'thumb_object_key'>) => {
  const sha256 = sha256OfMediaKey(poster_object_key);
  return poster_url ?? (sha256 === null ? null : `${MEDIA_MARK}${sha256}`);
};

/** The smallest still image: stored thumbnail, else poster, else the file itself. Not a thumbnail of another file. */
export const thumbUrlOf = (file: MediaLocation & StillLocation): string | null => {
  const pictures = [file.creative_key, sha256OfMediaKey(file.poster_object_key)];
  const picture = pictures.find(
    (sha256) => sha256 !== null && thumbnailKeyOf(sha256) === file.thumb_object_key,
  );
  if (picture != null) return `${MEDIA_MARK}${picture}${THUMBNAIL_NAME_END}`;
  return posterUrlOf(file) ?? mediaUrlOf(file);
};

export const unescapeStoredMedia = (json: string, fields: readonly string[]): string =>
  fields.reduce((text, field) => text.replaceAll(`"${field}":"\\u0002`, `"${field}":"${MEDIA_MARK}`), json);

/** `urlOf` receives the name of a file. */
export const replaceStoredMedia = (json: string, urlOf: (name: string) => string): string =>
  json.includes(MEDIA_MARK)
    ? json.replaceAll(STORED_MEDIA, (_mark, name: string) => JSON.stringify(urlOf(name)).slice(1, -1))
    : json;
