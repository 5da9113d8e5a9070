import { Refusal } from '#contracts/errors.ts';
import { DOWNLOAD_LINK_MINUTES } from '#contracts/resources/workspace/report.ts';
import type { LinkSigner } from './link-signer.ts';

/** The signature replaces the API key until it expires. */
export const DOWNLOAD_PATH = '/v1/reports/download';

export type Download = { readonly fileName: string; readonly objectKey: string };

export type DownloadLinks = {
  sign(download: Download, now: Date): { readonly url: string; readonly expiresAt: string };
  /** Throws `Refusal` when the URL was altered or has expired. */
  open(
    fileName: string,
    query: Readonly<Record<string, unknown>>,
    now: Date,
  ): Download & { readonly expiresAt: string };
};

const ALTERED = new Refusal('link_invalid', 'The link is invalid. Read the report again for a new link.');
const EXPIRED = new Refusal('link_invalid', 'The link has expired. Read the report again for a new link.');
const EXPIRES = /^[0-9]{1,12}$/;

export const createDownloadLinks = (signer: LinkSigner, baseUrl: string): DownloadLinks => {
  // Object key and expiry contain no line breaks, so two downloads never have the same signed text.
  const signedText = ({ fileName, objectKey }: Download, expires: string): string =>
    `download\n${fileName}\n${objectKey}\n${expires}`;

  return {
    sign: (download, now) => {
      const expiresAt = Math.floor(now.getTime() / 1_000) + DOWNLOAD_LINK_MINUTES * 60;
      const expires = String(expiresAt);
      const query = new URLSearchParams({
        object: download.objectKey,
        expires,
        signature: signer.sign(signedText(download, expires)),
      });
      const url = `${baseUrl}${DOWNLOAD_PATH}/${encodeURIComponent(download.fileName)}?${query.toString()}`;
      return { url, expiresAt: new Date(expiresAt * 1_000).toISOString() };
    },
    open: (fileName, { object, expires, signature }, now) => {
      if (typeof object !== 'string' || typeof expires !== 'string' || typeof signature !== 'string') {
        throw ALTERED;
      }
      if (object.includes('\n') || !EXPIRES.test(expires)) throw ALTERED;
      const download = { fileName, objectKey: object };
      if (!signer.isSigned(signedText(download, expires), signature)) throw ALTERED;
      if (Number(expires) * 1_000 <= now.getTime()) {
        throw EXPIRED;
      }
      return { ...download, expiresAt: new Date(Number(expires) * 1_000).toISOString() };
    },
  };
};
