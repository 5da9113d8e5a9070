import { z } from 'zod';
import { credentialedUrl } from '../settings.ts';
import { openFolderStore } from './folder-object-store.ts';
import type { ObjectStore } from './object-store.ts';
import { BUCKET_URL } from './s3-url.ts';

/** Where files lie, for every process that writes or serves them. */
export const objectStoreSettings = {
  OBJECT_STORE_DIR: z
    .string()
    .min(1)
    .default('.data/objects')
    .describe(
      'Folder of report files: the same, or a mount of it, for every process that writes or serves them.',
    ),
  OBJECT_STORE_URL: credentialedUrl(
    z
      .string()
      .regex(BUCKET_URL, 'a bucket is named like s3://KEY_ID:SECRET@host/bucket/folder?region=eu-central-1')
      .optional(),
    'A bucket for report files in place of the folder: `s3://KEY_ID:SECRET@host/bucket/folder?region=eu-central-1`, of any service that speaks S3; `tls=false` for one without TLS. Without a key, whatever the machine is allowed.',
  ),
} as const;

export type ObjectStoreSettings = {
  readonly OBJECT_STORE_DIR: string;
  readonly OBJECT_STORE_URL?: string | undefined;
};

/** The bucket where one is named, else the folder. A bucket that is not there is met on first use. */
export const openObjectStore = async (settings: ObjectStoreSettings): Promise<ObjectStore> => {
  if (settings.OBJECT_STORE_URL === undefined) return openFolderStore(settings.OBJECT_STORE_DIR);
  // Loaded where it is wanted only: it takes longer than all the rest of a start.
  const { openBucketStore } = await import('./s3-object-store.ts');
  return openBucketStore(settings.OBJECT_STORE_URL);
};
