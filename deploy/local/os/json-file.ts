import { open, readFile, rename } from 'node:fs/promises';
import type { z } from 'zod';

/** Holds keys and secrets, so nobody else reads it. */
const PRIVATE_MODE = 0o600;

/** `null` for a file that is absent or not of the form it should have. */
export const readJsonFile = async <T>(file: string, schema: z.ZodType<T>): Promise<T | null> => {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
};

/** Written beside, forced to the disk and renamed: a kill leaves the old file or the new one, never half of one. */
export const writeJsonFile = async (file: string, value: unknown): Promise<void> => {
  const draft = `${file}.new`;
  const handle = await open(draft, 'w', PRIVATE_MODE);
  try {
    await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
};
