import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { Refusal } from '#contracts/errors.ts';
import { DOWNLOAD_LINK_MINUTES } from '#contracts/resources/workspace/report.ts';

/** Addresses under which files are fetched without an API key: the signature is the key, for a while. */
export const DOWNLOAD_PATH = '/v1/reports/download';

/** A file as its reader saves it, and where it lies in the object store. */
export type Download = { readonly fileName: string; readonly objectKey: string };

export type DownloadLinks = {
  sign(download: Download, now: Date): { readonly url: string; readonly expiresAt: string };
  /** Refuses an address that is altered, or older than its time. */
  open(
    fileName: string,
    query: Readonly<Record<string, unknown>>,
    now: Date,
  ): Download & { readonly expiresAt: string };
};

const refusal = (message: string): Refusal => new Refusal('link_invalid', message);
const EXPIRES = /^[0-9]{1,12}$/;

/**
 * The secrets are the same in every API process; they may sign other things too, which say so in what they sign.
 * `second` is only accepted, while secrets change.
 */
export const createDownloadLinks = (secret: string, baseUrl: string, second?: string): DownloadLinks => {
  const key = createSecretKey(Buffer.from(secret, 'utf8'));
  const keys = second === undefined ? [key] : [key, createSecretKey(Buffer.from(second, 'utf8'))];
  // The last two hold no line breaks, so that no two addresses are signed alike.
  const signatureOf = ({ fileName, objectKey }: Download, expires: string, by = key): Buffer =>
    createHmac('sha256', by).update(`download\n${fileName}\n${objectKey}\n${expires}`).digest();

  return {
    sign: (download, now) => {
      const expiresAt = Math.floor(now.getTime() / 1_000) + DOWNLOAD_LINK_MINUTES * 60;
      const expires = String(expiresAt);
      const query = new URLSearchParams({
        object: download.objectKey,
        expires,
        signature: signatureOf(download, expires).toString('base64url'),
      });
      const url = `${baseUrl}${DOWNLOAD_PATH}/${encodeURIComponent(download.fileName)}?${query.toString()}`;
      return { url, expiresAt: new Date(expiresAt * 1_000).toISOString() };
    },
    open: (fileName, { object, expires, signature }, now) => {
      const altered = refusal('This link is not one of ours. Read the report again for a fresh one.');
      if (typeof object !== 'string' || typeof expires !== 'string' || typeof signature !== 'string') {
        throw altered;
      }
      if (object.includes('\n') || !EXPIRES.test(expires)) throw altered;
      const download = { fileName, objectKey: object };
      const given = Buffer.from(signature, 'base64url');
      // Decoding skips what is not base64url and ignores spare bits: only the exact text is a signature.
      if (given.toString('base64url') !== signature) throw altered;
      const isSignedBy = (one: KeyObject): boolean => {
        const wanted = signatureOf(download, expires, one);
        return given.length === wanted.length && timingSafeEqual(given, wanted);
      };
      if (!keys.some(isSignedBy)) throw altered;
      if (Number(expires) * 1_000 <= now.getTime()) {
        throw refusal('This link has expired. Read the report again for a fresh one.');
      }
      return { ...download, expiresAt: new Date(Number(expires) * 1_000).toISOString() };
    },
  };
};
