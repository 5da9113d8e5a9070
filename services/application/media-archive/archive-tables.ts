import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';

/** Kinds of files that the archive copies: none, images, or images and videos. */
export const ARCHIVE_MODES = ['off', 'images', 'all'] as const;
export type ArchiveMode = (typeof ARCHIVE_MODES)[number];

/** Used by `ingest`, which records wanted files, and `media`, which fetches them. */
export const archiveSettings = {
  MEDIA_ARCHIVE: z
    .enum(ARCHIVE_MODES)
    .default('off')
    .describe(
      'Files of ads that are copied into the object store: `off`, `images`, or `all` with videos. Copying them is your decision. Set it for `ingest` and `media`.',
    ),
} as const;

export const createArchiveTables = (database: Database): Promise<void> =>
  installSchema(database, {
    lock: ADVISORY_LOCKS.mediaSchema,
    sql: readFileSync(new URL('schema.sql', import.meta.url), 'utf8'),
    fingerprintOn: 'media',
  });
