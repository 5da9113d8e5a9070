import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from '../os/json-file.ts';

const SECRET_BYTES = 32;
const Secret = z.string().min(16);
const Secrets = z.object({
  cursor_secret: Secret,
  ops_token: Secret,
  mcp_secret: Secret,
  /** Base64 of 32 bytes, the length of this key and of the audit signing key. */
  member_vault_key: Secret,
  audit_signing_key: Secret,
});
export type Secrets = z.infer<typeof Secrets>;

/** Generated once, so that cursors and encrypted names stay valid. Adds secrets missing from an older folder. */
export const readOrCreateSecrets = async (file: string): Promise<Secrets> => {
  const existing = await readJsonFile(file, Secrets.partial());
  const generated = Object.fromEntries(Object.keys(Secrets.shape).map((name) => [name, newSecret()]));
  const secrets = Secrets.parse({ ...generated, ...existing });
  if (Object.keys(existing ?? {}).length < Object.keys(generated).length) await writeJsonFile(file, secrets);
  return secrets;
};

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');
