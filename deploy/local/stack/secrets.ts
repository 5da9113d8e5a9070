import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from '../os/json-file.ts';

const SECRET_BYTES = 32;
const Secret = z.string().min(16);
const Secrets = z.object({
  cursor_secret: Secret,
  ops_token: Secret,
  /** Base64 of as many bytes as the two keys have. */
  member_vault_key: Secret,
  audit_signing_key: Secret,
});
export type Secrets = z.infer<typeof Secrets>;

/**
 * Secrets of this data folder: made once, so that cursors handed out before a restart still hold and names that were
 * sealed still open. A folder of an earlier version gets those that it lacks.
 */
export const readOrMakeSecrets = async (file: string): Promise<Secrets> => {
  const known = await readJsonFile(file, Secrets.partial());
  const made = Object.fromEntries(Object.keys(Secrets.shape).map((name) => [name, newSecret()]));
  const secrets = Secrets.parse({ ...made, ...known });
  if (Object.keys(known ?? {}).length < Object.keys(made).length) await writeJsonFile(file, secrets);
  return secrets;
};

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');
