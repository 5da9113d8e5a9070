import { createPrivateKey, hkdfSync, type webcrypto } from 'node:crypto';

/** Length of a derived key in bytes. */
const KEY_BYTES = 32;
/** Beginning of the PKCS #8 form of an Ed25519 key (RFC 8410, section 7); the 32 bytes of the key follow. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Keys of the authorization server. The first of each kind is used; the others still count. */
export type SignInKeys = {
  /** Keys that sign cookies. */
  readonly cookies: readonly string[];
  /** Private keys as JSON Web Keys. Only their public halves are published. */
  readonly signing: { readonly keys: readonly webcrypto.JsonWebKey[] };
};

const derive = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `mcp ${purpose}`, KEY_BYTES));

const signingKeyOf = (secret: string): webcrypto.JsonWebKey =>
  createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, derive(secret, 'signing')]),
    format: 'der',
    type: 'pkcs8',
  }).export({ format: 'jwk' });

/**
 * Derives the keys from `MCP_SECRET` and, while secrets change, `MCP_SECRET_SECOND`. Processes with the same secrets
 * have the same keys, so that a sign-in may go on in another process.
 */
export const deriveKeys = (secret: string, second?: string): SignInKeys => {
  const secrets = [...new Set([secret, ...(second === undefined ? [] : [second])])];
  return {
    cookies: secrets.map((one) => derive(one, 'cookies').toString('base64url')),
    signing: { keys: secrets.map(signingKeyOf) },
  };
};
