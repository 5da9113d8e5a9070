import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  directoryResponseHeaders,
  HTTP_MESSAGE_SIGNATURES_DIRECTORY,
  jwkToKeyID,
  MediaType,
  signatureHeaders,
  type Signer,
} from 'web-bot-auth';
import { helpers } from 'web-bot-auth/crypto';
import { z } from 'zod';
import { secret } from '../settings.ts';

export const KEY_DIRECTORY_PATH = HTTP_MESSAGE_SIGNATURES_DIRECTORY;
export const KEY_DIRECTORY_TYPE = MediaType.HTTP_MESSAGE_SIGNATURES_DIRECTORY;
/** Time for one request, and for clocks that differ. */
const REQUEST_VALID_MS = 60_000;
/** Validity of the key directory's signature. */
export const DIRECTORY_VALID_MS = 300_000;

export const botKeySettings = {
  BOT_KEY_FILE: secret(
    z.string().optional(),
    'File with an Ed25519 private key (PEM), by which the collector signs its requests (Web Bot Auth). The API publishes the public key on the host of `API_BASE_URL`.',
  ),
} as const;

export type BotKey = {
  sign(url: URL, now: Date): Promise<Readonly<Record<string, string>>>;
  /** Headers and body as requested from a host. */
  directory(
    host: string,
    now: Date,
  ): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly body: string }>;
};

const readKey = (path: string): KeyObject => {
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`BOT_KEY_FILE is not a readable private key: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (key.asymmetricKeyType !== 'ed25519') {
    throw new Error('BOT_KEY_FILE is not an Ed25519 key. Make one with: openssl genpkey -algorithm ed25519');
  }
  return key;
};

/**
 * Key of RFC 9421 signatures with the tag `web-bot-auth`. `agentUrl` is on the host that publishes it. Throws for a
 * file that is not an Ed25519 private key, and for an agent without https.
 */
export const readBotKey = async (path: string, agentUrl: string | undefined): Promise<BotKey> => {
  const agent = agentUrl === undefined ? null : URL.parse(agentUrl);
  if (agent?.protocol !== 'https:') {
    throw new Error('BOT_KEY_FILE needs API_BASE_URL with https, because sites read the public key there.');
  }
  const key = readKey(path);
  const { kty, crv, x } = createPublicKey(key).export({ format: 'jwk' });
  const publicKey = { kty, crv, x } as JsonWebKey;
  const keyid = await jwkToKeyID(publicKey, helpers.WEBCRYPTO_SHA256, helpers.BASE64URL_DECODE);
  const signer: Signer = { alg: 'ed25519', keyid, sign: (data) => sign(null, Buffer.from(data), key) };
  const signatureAgent = `"${agent.origin}"`;
  return {
    sign: async (url, now) => {
      const headers = { 'signature-agent': signatureAgent };
      const signed = await signatureHeaders({ method: 'GET', url: url.href, headers }, signer, {
        created: now,
        expires: new Date(now.getTime() + REQUEST_VALID_MS),
      });
      return { ...headers, signature: signed.Signature, 'signature-input': signed['Signature-Input'] };
    },
    directory: async (host, now) => {
      const request = { method: 'GET', url: `https://${host}${KEY_DIRECTORY_PATH}`, headers: {} };
      const signed = await directoryResponseHeaders(
        { request, response: { status: 200, headers: {} } },
        [signer],
        {
          created: now,
          expires: new Date(now.getTime() + DIRECTORY_VALID_MS),
        },
      );
      return {
        headers: {
          'content-type': KEY_DIRECTORY_TYPE,
          signature: signed.Signature,
          'signature-input': signed['Signature-Input'],
        },
        body: JSON.stringify({ keys: [{ ...publicKey, kid: keyid, use: 'sig' }], purpose: 'crawl' }),
      };
    },
  };
};
