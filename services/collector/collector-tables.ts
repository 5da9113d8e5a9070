import { readFileSync } from 'node:fs';
import { ADVISORY_LOCKS } from '#contracts/ports/advisory-locks.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { installSchema } from '#platform/postgres/schema-installer.ts';

export const createCollectorTables = (database: Database): Promise<void> =>
  installSchema(database, {
    lock: ADVISORY_LOCKS.collectingSchema,
    sql: readFileSync(new URL('schema.sql', import.meta.url), 'utf8'),
    fingerprintOn: 'collecting',
  });
