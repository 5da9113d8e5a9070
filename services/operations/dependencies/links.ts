import { type KeyObject, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Refusal } from '#contracts/errors.ts';
import type { ProofStatement } from '#contracts/audit/proof.ts';
import { DOWNLOAD_LINK_MINUTES } from '#contracts/resources/workspace/report.ts';
import { MEDIA_PATH } from '#contracts/values/media/stored-media.ts';
import { DAY_MS } from '#contracts/values/time.ts';

export type LinkSigner = { sign(text: string): string; isSigned(text: string, signature: string): boolean };

/**
 * All API processes share the secrets. Each text begins with its kind of link. `second` is only accepted for reading.
 */
export const createLinkSigner = (secret: string, second?: string): LinkSigner => {
  const key = createSecretKey(Buffer.from(secret, 'utf8'));
  const keys = second === undefined ? [key] : [key, createSecretKey(Buffer.from(second, 'utf8'))];
  const signatureOf = (text: string, by: KeyObject): Buffer => createHmac('sha256', by).update(text).digest();
  return {
    sign: (text) => signatureOf(text, key).toString('base64url'),
    isSigned: (text, signature) => {
      const bytes = Buffer.from(signature, 'base64url');
      // Decoding skips characters outside base64url and ignores spare bits, so only the exact text is accepted.
      if (bytes.toString('base64url') !== signature) return false;
      return keys.some((one) => {
        const expected = signatureOf(text, one);
        return bytes.length === expected.length && timingSafeEqual(bytes, expected);
      });
    },
  };
};

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
      if (Number(expires) * 1_000 <= now.getTime()) throw EXPIRED;
      return { ...download, expiresAt: new Date(Number(expires) * 1_000).toISOString() };
    },
  };
};

export type MediaLinks = {
  /** `name`: SHA-256 of the file, or of an image with `.thumb`. The URL is equal all day, so that ETags stay equal. */
  sign(name: string, now: Date): string;
  /** Returns the milliseconds that the link is still valid. Throws `Refusal` when it was altered or has expired. */
  open(name: string, query: Readonly<Record<string, unknown>>, now: Date): number;
};

const altered = new Refusal('link_invalid', 'The link is invalid. Read the creative again for a new link.');
const expired = new Refusal('link_invalid', 'The link has expired. Read the creative again for a new link.');
const NAME = /^[0-9a-f]{64}(\.thumb)?$/;

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

export const PROOF_PATH = '/v1/proofs';
const PROOF_LINK_MS = DOWNLOAD_LINK_MINUTES * 60_000;

export type ProofLinks = {
  /** The link has the statement, so that the file is about what was read. */
  sign(statement: ProofStatement, now: Date): { readonly url: string; readonly expiresAt: string };
  /** Throws `Refusal` when the link was altered or has expired. */
  open(query: Readonly<Record<string, unknown>>, now: Date): ProofStatement;
};

/** Servers and proxies take some 8,000 characters of an address. */
const PROOF_LINK_CHARACTERS_MAX = 7_500;
const PROOF_LONG = new Refusal(
  'invalid_input',
  'No proof: the addresses in the item are so long that the link to its bundle would not be taken by servers.',
  [{ path: '', message: 'the link would be too long', code: 'too_big' }],
);

const PROOF_ALTERED = new Refusal(
  'link_invalid',
  'The link is invalid or has expired. Read the proof again for a new link.',
);

export const createProofLinks = (signer: LinkSigner, baseUrl: string): ProofLinks => ({
  sign: (statement, now) => {
    const expiresAt = new Date(now.getTime() + PROOF_LINK_MS).toISOString();
    const text = deflateRawSync(JSON.stringify({ statement, expiresAt })).toString('base64url');
    if (text.length > PROOF_LINK_CHARACTERS_MAX) throw PROOF_LONG;
    const query = new URLSearchParams({ statement: text, signature: signer.sign(`proof\n${text}`) });
    return { url: `${baseUrl}${PROOF_PATH}?${query.toString()}`, expiresAt };
  },
  open: ({ statement: text, signature }, now) => {
    if (typeof text !== 'string' || typeof signature !== 'string') throw PROOF_ALTERED;
    if (!signer.isSigned(`proof\n${text}`, signature)) throw PROOF_ALTERED;
    const { statement, expiresAt } = JSON.parse(
      inflateRawSync(Buffer.from(text, 'base64url')).toString('utf8'),
    ) as {
      readonly statement: ProofStatement;
      readonly expiresAt: string;
    };
    if (Date.parse(expiresAt) <= now.getTime()) throw PROOF_ALTERED;
    return statement;
  },
});
