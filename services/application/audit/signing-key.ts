import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { Refusal } from '#contracts/errors.ts';
import { secret } from '#platform/settings.ts';

export const auditSettings = {
  AUDIT_SIGNING_KEY: secret(
    z.string().optional(),
    'Ed25519 key that signs audit exports, attestations and the daily digests of the log, as PEM or seed. Create it with `npm run ops -- audit keygen`. All of them need it.',
  ),
} as const;

/** Ed25519 key pair that signs exports and attestations. The setting holds the private key as a PEM, or as base64 of its 32-byte seed. */
export type SigningKey = { readonly privateKey: KeyObject; readonly publicKey: KeyObject };

const SEED_BYTES = 32;
const ID_LENGTH = 16;
/** PKCS #8 prefix of an Ed25519 private key; the seed follows (RFC 8410). */
const PKCS8_BEFORE_SEED = Buffer.from('302e020100300506032b657004220420', 'hex');

const spkiOf = (publicKey: KeyObject): Buffer => publicKey.export({ type: 'spki', format: 'der' });

export const publicKeyText = (publicKey: KeyObject): string => spkiOf(publicKey).toString('base64');
export const publicKeyId = (publicKey: KeyObject): string =>
  hash('sha256', spkiOf(publicKey), 'hex').slice(0, ID_LENGTH);

const requireEd25519 = (key: KeyObject): KeyObject => {
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('not an Ed25519 key');
  return key;
};

const isPem = (text: string): boolean => text.includes('-----BEGIN');

/** Parses AUDIT_SIGNING_KEY. Throws `invalid_input`. */
export const readSigningKey = (text: string): SigningKey => {
  try {
    const seed = Buffer.from(text, 'base64');
    if (!isPem(text) && seed.length !== SEED_BYTES) throw new Error('not a seed');
    const privateKey = requireEd25519(
      isPem(text)
        ? createPrivateKey(text.replaceAll('\\n', '\n'))
        : createPrivateKey({ key: Buffer.concat([PKCS8_BEFORE_SEED, seed]), format: 'der', type: 'pkcs8' }),
    );
    return { privateKey, publicKey: createPublicKey(privateKey) };
  } catch (cause) {
    const refusal = new Refusal(
      'invalid_input',
      'AUDIT_SIGNING_KEY is not an Ed25519 key. Set a PEM or base64 of a 32-byte seed; `ops audit keygen` creates one.',
    );
    throw Object.assign(refusal, { cause });
  }
};

/** Parses a public key: a PEM, or base64 of its SPKI. Throws `invalid_input`. */
export const readPublicKey = (text: string): KeyObject => {
  try {
    return requireEd25519(
      isPem(text)
        ? createPublicKey(text)
        : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }),
    );
  } catch (cause) {
    const refusal = new Refusal(
      'invalid_input',
      'Not an Ed25519 public key. Expected a PEM, or base64 of its SPKI.',
    );
    throw Object.assign(refusal, { cause });
  }
};

export const createSigningKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  return {
    audit_signing_key: pkcs8.subarray(-SEED_BYTES).toString('base64'),
    public_key_id: publicKeyId(publicKey),
    public_key: publicKeyText(publicKey),
  };
};
