import { createPrivateKey, hkdfSync, type webcrypto } from 'node:crypto';

const KEY_BYTES = 32;
/** PKCS #8 prefix of an Ed25519 key (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

export type SignInKeys = {
  readonly cookies: readonly string[];
  /** JSON Web Keys; only their public halves are published. */
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

/** The first secret is used, `second` is still accepted. Equal secrets let a sign-in continue in another process. */
export const deriveKeys = (secret: string, second?: string): SignInKeys => {
  const secrets = [...new Set([secret, ...(second === undefined ? [] : [second])])];
  return {
    cookies: secrets.map((one) => derive(one, 'cookies').toString('base64url')),
    signing: { keys: secrets.map(signingKeyOf) },
  };
};
