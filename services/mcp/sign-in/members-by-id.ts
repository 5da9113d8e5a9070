import type { Database } from '#platform/postgres/pool.ts';
import type { Accounts } from './provider.ts';

/** Finds accounts that are one member each, by the member's id. An erased member is unknown at once. */
export const createMembersById = (pool: Database): Accounts => ({
  find: async (accountId) => {
    const sql = 'select from access.member where member_id = $1 limit 1';
    const { rowCount } = await pool.query(sql, [accountId]);
    return rowCount === 0 ? null : { accountId };
  },
});
