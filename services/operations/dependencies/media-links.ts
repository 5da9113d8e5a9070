import { Refusal } from '#contracts/errors.ts';
import { MEDIA_PATH } from '#contracts/values/media/stored-media.ts';
import { DAY_MS } from '#contracts/values/time.ts';
import type { LinkSigner } from './link-signer.ts';

export type MediaLinks = {
  /** `name`: SHA-256 of the file, or of an image with `.thumb`. The URL is equal all day, so that ETags stay equal. */
  sign(name: string, now: Date): string;
  /** Returns the milliseconds that the link is still valid. Throws `Refusal` when it was altered or has expired. */
  open(name: string, query: Readonly<Record<string, unknown>>, now: Date): number;
};

const altered = new Refusal('link_invalid', 'The link is invalid. Read the creative again for a new link.');
const expired = new Refusal('link_invalid', 'The link has expired. Read the creative again for a new link.');
const NAME = /^[0-9a-f]{64}(\.thumb)?$/;
const EXPIRES = /^[0-9]{1,12}$/;

/** A link is valid to the end of the next UTC day. */
export const createMediaLinks = (signer: LinkSigner, baseUrl: string): MediaLinks => {
  const signedText = (name: string, expires: string): string => `media\n${name}\n${expires}`;
  return {
    sign: (name, now) => {
      const endOfNextDay = (Math.floor(now.getTime() / DAY_MS) + 2) * DAY_MS;
      const expires = String(endOfNextDay / 1_000);
      const signature = signer.sign(signedText(name, expires));
      return `${baseUrl}${MEDIA_PATH}/${name}?expires=${expires}&signature=${signature}`;
    },
    open: (name, { expires, signature }, now) => {
      if (typeof expires !== 'string' || typeof signature !== 'string') throw altered;
      if (!NAME.test(name) || !EXPIRES.test(expires)) throw altered;
      if (!signer.isSigned(signedText(name, expires), signature)) throw altered;
      const left = Number(expires) * 1_000 - now.getTime();
      if (left <= 0) throw expired;
      return left;
    },
  };
};
