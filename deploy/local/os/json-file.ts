import { open, readFile, rename } from 'node:fs/promises';
import type { z } from 'zod';

/** Owner only, because the file holds keys and secrets. */
const PRIVATE_MODE = 0o600;

/** `null` when the file is missing or does not match the schema. */
export const readJsonFile = async <T>(file: string, schema: z.ZodType<T>): Promise<T | null> => {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
};

/** Syncs a new file and renames it, so that a kill leaves the old or the new one. */
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
