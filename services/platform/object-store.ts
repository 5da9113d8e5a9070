import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';

/** Where files lie, for every process that writes or serves them: the same folder, or a mount of it. */
export const objectStoreSettings = {
  OBJECT_STORE_DIR: z
    .string()
    .min(1)
    .default('.data/objects')
    .describe(
      'Folder of report files: the same, or a mount of it, for every process that writes or serves them.',
    ),
} as const;

/** Lower-case names with slashes between; nothing that could leave the folder. */
const KEY = /^[a-z0-9_-]+(\/[a-z0-9_-]+)*(\.[a-z0-9]+)?$/;
const KEY_MAX_LENGTH = 500;
/** What is being written has this ending and is no object yet. */
const UNFINISHED = '.part';

export type StoredObject = { readonly bytes: number; readonly sha256: string };

/** Whole files by key. An object appears at once and complete, or not at all. */
export type ObjectStore = {
  /** Writes what the source yields; a source that throws leaves nothing behind. */
  write(key: string, source: AsyncIterable<string | Uint8Array>): Promise<StoredObject>;
  /** `null` where there is no such object. */
  open(key: string): Promise<{ readonly bytes: number; read(): Readable } | null>;
  /** Removes everything below a prefix but one object: also what writers that died left half-written. */
  removeAllBut(prefix: string, key: string | null): Promise<void>;
};

const isMissing = (error: unknown): boolean => (error as { code?: string }).code === 'ENOENT';

/** Objects as files of a folder: written to a temporary name, made durable, then renamed. */
export const openObjectStore = (folder: string): ObjectStore => {
  const root = resolve(folder);
  const pathOf = (key: string): string => {
    if (key.length > KEY_MAX_LENGTH || !KEY.test(key)) throw new Error(`no key of an object: ${key}`);
    return join(root, key);
  };
  return {
    write: async (key, source) => {
      const path = pathOf(key);
      const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
      await mkdir(dirname(path), { recursive: true });
      const file = await open(unfinished, 'wx');
      const digest = createHash('sha256');
      let bytes = 0;
      try {
        try {
          for await (const chunk of source) {
            const buffer = typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk;
            digest.update(buffer);
            bytes += buffer.byteLength;
            await file.appendFile(buffer);
          }
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(unfinished, path);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
      return { bytes, sha256: digest.digest('hex') };
    },
    open: async (key) => {
      const path = pathOf(key);
      try {
        const { size } = await stat(path);
        return { bytes: size, read: () => createReadStream(path) };
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    removeAllBut: async (prefix, key) => {
      const below = pathOf(prefix);
      const kept = key === null ? null : pathOf(key);
      let names: string[];
      try {
        names = await readdir(below);
      } catch (error) {
        if (isMissing(error)) return;
        throw error;
      }
      for (const name of names) {
        if (join(below, name) !== kept) await rm(join(below, name), { recursive: true, force: true });
      }
    },
  };
};
