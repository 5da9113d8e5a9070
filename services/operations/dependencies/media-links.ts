import { Refusal } from '#contracts/errors.ts';
import { CREATIVE_KEY } from '#contracts/values/creatives.ts';
import { MEDIA_PATH } from '#contracts/values/stored-media.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import type { LinkSigner } from './link-signer.ts';

export type MediaLinks = {
  /** Returns the signed URL of a media file. Equal all day, so that replies and their ETags stay equal. */
  sign(sha256: string, now: Date): string;
  /** Returns the milliseconds that the link is still valid. Throws `Refusal` when it was altered or has expired. */
  open(sha256: string, query: Readonly<Record<string, unknown>>, now: Date): number;
};

const altered = new Refusal('link_invalid', 'The link is invalid. Read the creative again for a new link.');
const expired = new Refusal('link_invalid', 'The link has expired. Read the creative again for a new link.');
const EXPIRES = /^[0-9]{1,12}$/;

/** Creates the links to media files. A link is valid to the end of the next UTC day. */
export const createMediaLinks = (signer: LinkSigner, baseUrl: string): MediaLinks => {
  const signedText = (sha256: string, expires: string): string => `media\n${sha256}\n${expires}`;
  return {
    sign: (sha256, now) => {
      const endOfNextDay = (Math.floor(now.getTime() / DAY_MS) + 2) * DAY_MS;
      const expires = String(endOfNextDay / 1_000);
      const signature = signer.sign(signedText(sha256, expires));
      return `${baseUrl}${MEDIA_PATH}/${sha256}?expires=${expires}&signature=${signature}`;
    },
    open: (sha256, { expires, signature }, now) => {
      if (typeof expires !== 'string' || typeof signature !== 'string') throw altered;
      if (!CREATIVE_KEY.test(sha256) || !EXPIRES.test(expires)) throw altered;
      if (!signer.isSigned(signedText(sha256, expires), signature)) throw altered;
      const left = Number(expires) * 1_000 - now.getTime();
      if (left <= 0) throw expired;
      return left;
    },
  };
};
