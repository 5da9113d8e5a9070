import { type Fragment, raw, sql } from './sql-tag.ts';

/** True if the member may see the row `alias` of `collections.collection`. */
export const seenBy = (alias: string, memberId: string): Fragment =>
  sql.fragment`(${raw(alias)}.audience is null or ${memberId} = any(${raw(alias)}.audience))`;
