import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open as openFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { assertObjectKey, type ObjectStore } from './object-store.ts';

/** Marks an object that is still being written. */
const UNFINISHED = '.part';

const isMissing = (error: unknown): boolean => (error as { code?: string }).code === 'ENOENT';

/** Writes under a temporary name, syncs to disk, then renames. */
export const openFolderStore = (folder: string): ObjectStore => {
  const root = resolve(folder);
  const pathOf = (key: string): string => join(root, assertObjectKey(key));
  const open: ObjectStore['open'] = async (key) => {
    const path = pathOf(key);
    try {
      const { size } = await stat(path);
      return { bytes: size, read: (range) => createReadStream(path, range) };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  };
  return {
    open,
    exists: async (key) => (await open(key)) !== null,
    remove: (key) => rm(pathOf(key), { force: true }),
    write: async (key, source) => {
      const path = pathOf(key);
      const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
      await mkdir(dirname(path), { recursive: true });
      const file = await openFile(unfinished, 'wx');
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
