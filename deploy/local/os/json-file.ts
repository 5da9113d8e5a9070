import { open, readFile, rename } from 'node:fs/promises';
import type { z } from 'zod';

/** Readable by the owner only, because the file holds keys and secrets. */
const PRIVATE_MODE = 0o600;

/** Returns `null` when the file is missing or does not match the schema. */
export const readJsonFile = async <T>(file: string, schema: z.ZodType<T>): Promise<T | null> => {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
};

/**
 * Writes a JSON file atomically: write a new file, sync it to disk, rename it. After a kill the file is the old or
 * the new one, never half of one.
 */
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
