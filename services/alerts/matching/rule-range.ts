import type { Database } from '#platform/postgres/pool.ts';

/** `after` exclusive, `upTo` inclusive. An event of a brand with very many rules is matched range by range. */
export type RuleRange = { readonly after: string; readonly upTo: string };

/** Sorts before the id of every rule. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export const EVERY_RULE: RuleRange = { after: FIRST_ID, upTo: LAST_ID };

/** Includes rules with an instant alert that waits for its scan: a rule may have left the brand since. */
const LAST_OF_RANGE = `
  select alert_id from (
    (select alert_id from alerting.rule_brand where brand_id = $1::uuid and alert_id > $2 order by alert_id limit $3)
    union
    (select alert_id from alerting.collected
      where cadence = 'instant' and key = $1::uuid::text and alert_id > $2 order by alert_id limit $3)
  ) ids order by alert_id offset $3 - 1 limit 1`;

/** Returns at most `rulesMax` rules after an id, and whether they are the last. */
export const nextRange = async (
  database: Database,
  brandId: string,
  after: string,
  rulesMax: number,
): Promise<RuleRange & { readonly isLast: boolean }> => {
  const { rows } = await database.query<{ alert_id: string }>({
    name: 'last rule of a range',
    text: LAST_OF_RANGE,
    values: [brandId, after, rulesMax],
  });
  const last = rows[0]?.alert_id;
  return { after, upTo: last ?? LAST_ID, isLast: last === undefined };
};
