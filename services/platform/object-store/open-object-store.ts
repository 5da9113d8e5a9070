import { z } from 'zod';
import { credentialedUrl } from '../settings.ts';
import { openFolderStore } from './folder-object-store.ts';
import type { ObjectStore } from './object-store.ts';
import { BUCKET_URL } from './s3-object-store.ts';

export const objectStoreSettings = {
  OBJECT_STORE_DIR: z
    .string()
    .min(1)
    .default('.data/objects')
    .describe(
      'Folder of report files; every process that writes or serves them must use the same folder or a mount of it.',
    ),
  OBJECT_STORE_URL: credentialedUrl(
    z
      .string()
      .regex(BUCKET_URL, 'a bucket URL, s3://KEY_ID:SECRET@host/bucket/folder?region=eu-central-1')
      .optional(),
    'Bucket for report files, used instead of the folder: `s3://KEY_ID:SECRET@host/bucket/folder?region=eu-central-1`, on any S3-compatible service; `tls=false` turns TLS off. Without a key, the default AWS credentials of the machine apply.',
  ),
} as const;

export type ObjectStoreSettings = {
  readonly OBJECT_STORE_DIR: string;
  readonly OBJECT_STORE_URL?: string | undefined;
};

/** A bucket if OBJECT_STORE_URL is set, else the folder. A missing bucket causes an error on first use. */
export const openObjectStore = async (settings: ObjectStoreSettings): Promise<ObjectStore> => {
  if (settings.OBJECT_STORE_URL === undefined) return openFolderStore(settings.OBJECT_STORE_DIR);
  // Loaded only when needed: importing the S3 client takes longer than the rest of the start.
  const { openBucketStore } = await import('./s3-object-store.ts');
  return openBucketStore(settings.OBJECT_STORE_URL);
};
