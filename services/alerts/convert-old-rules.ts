import type { Database } from '#platform/postgres/pool.ts';

/** Maximum rules of one statement. A rule with 500 brands has 20 kB. */
const RULES_PER_STATEMENT = 1_000;

/** Converts the next rules after `$1`, and returns the last of them. */
const CONVERT_SOME = `
  with page as (
    select alert_id from alerting.rule where alert_id > $1 order by alert_id limit ${RULES_PER_STATEMENT}
  ), converted as (
    update alerting.rule r set rule = (rule - 'suspension') || jsonb_build_object(
      'status', 'present',
      'suspended', '{"webhook": null, "chat": null}'::jsonb || case
        when rule->'suspension' = 'null' then '{}'::jsonb
        else jsonb_build_object(rule->'suspension'->>'channel', rule->'suspension')
      end)
    from page where r.alert_id = page.alert_id and rule ? 'suspension'
  )
  select alert_id from page order by alert_id desc limit 1`;

/**
 * Converts rules stored by an older release, in which a suspension covered the whole rule instead of one channel. Notes at the
 * end that it is done: it reads all rules, and no later start needs that.
 */
export const convertOldRules = async (database: Database): Promise<void> => {
  for (let after: string | undefined = '00000000-0000-0000-0000-000000000000'; after !== undefined; ) {
    const { rows }: { rows: { alert_id: string }[] } = await database.query(CONVERT_SOME, [after]);
    after = rows[0]?.alert_id;
  }
  await database.query('update alerting.checkpoint set knows_channels = true');
};
