import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open as openFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { type ObjectStore, assertObjectKey } from './object-store.ts';
import { credentialedUrl, dataFolderSettings, OBJECTS_FOLDER } from '../settings.ts';
import { BUCKET_URL } from './s3-object-store.ts';

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

export const objectStoreSettings = {
  ...dataFolderSettings,
  OBJECT_STORE_URL: credentialedUrl(
    z
      .string()
      .regex(BUCKET_URL, 'a bucket URL, s3://KEY_ID:SECRET@host/bucket/folder?region=eu-central-1')
      .optional(),
    'Bucket for report files and media, used instead of the folder: `s3://KEY_ID:SECRET@host/bucket/folder?region=eu-central-1`, on any S3-compatible service; `tls=false` turns TLS off. Without a key, the default AWS credentials of the machine apply.',
  ),
} as const;

export type ObjectStoreSettings = {
  readonly DATA_DIR: string;
  readonly OBJECT_STORE_URL?: string | undefined;
};

/** A bucket if OBJECT_STORE_URL is set, else the folder. A missing bucket causes an error on first use. */
export const openObjectStore = async (settings: ObjectStoreSettings): Promise<ObjectStore> => {
  if (settings.OBJECT_STORE_URL === undefined)
    return openFolderStore(join(settings.DATA_DIR, OBJECTS_FOLDER));
  // Loaded only when needed: importing the S3 client takes longer than the rest of the start.
  const { openBucketStore } = await import('./s3-object-store.ts');
  return openBucketStore(settings.OBJECT_STORE_URL);
};
