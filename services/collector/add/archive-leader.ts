import { WHOLE, leaseOwnerSql } from '#platform/postgres/lease/leases.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { ARCHIVE_LEADER } from '../ads-archive/archive-runner.ts';

export const isArchiveRead = async (database: Database): Promise<boolean> => {
  const found = await database.query<{ found: boolean }>(
    `select to_regclass('run.lease') is not null as found`,
  );
  if (found.rows[0]?.found !== true) return false;
  const { rows } = await database.query<{ owner: string | null }>(
    `select ${leaseOwnerSql('$1', '$2')} as owner`,
    [ARCHIVE_LEADER, WHOLE],
  );
  return rows[0]?.owner != null;
};
