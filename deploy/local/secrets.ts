import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from './json-file.ts';

const SECRET_BYTES = 32;
const Secrets = z.object({ cursor_secret: z.string().min(16), ops_token: z.string().min(16) });
export type Secrets = z.infer<typeof Secrets>;

/** Secrets of this data folder: made once, so that cursors handed out before a restart still hold. */
export const readOrMakeSecrets = async (file: string): Promise<Secrets> => {
  const known = await readJsonFile(file, Secrets);
  if (known !== null) return known;
  const made = { cursor_secret: newSecret(), ops_token: newSecret() };
  await writeJsonFile(file, made);
  return made;
};

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');
