import type { Database, Transaction } from '#platform/postgres/pool.ts';
import type { MatchingState } from '#application/alerts/match-events.ts';
import { type AlertRule, type AlertRuleState, isActive } from '#domain/workspace/alert/rule-decider.ts';

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

export type ActiveRules = MatchingState['rules'] & { set(alertId: string, rule: AlertRuleState): void };

/**
 * Rules at the checkpoint, in the table. Memory holds only those of the last brands, because hundreds of thousands would
 * fill it.
 */
export type StoredRules = ActiveRules & {
  /** Returns false, and loads nothing, when the brands have more rules in the range than `pairsMax`. */
  load(wanted: WantedRules, pairsMax?: number | null): Promise<boolean>;
  forget(): void;
  /** Call it after `save`. Drops the `brand_ids` of all rules in memory. Returns how many rules there are. */
  trim(): number;
  save(client: Transaction): Promise<void>;
};

/** Only rules of `changing` have their `brand_ids`: a rule can have hundreds, and matching needs none. */
export type WantedRules = {
  readonly brandIds?: readonly string[];
  /** Absent: all rules. */
  readonly range?: RuleRange;
  readonly changing?: readonly string[];
  readonly others?: readonly string[];
};

type Pair = { readonly brand_id: string; readonly alert_id: string };

const readPairs = async (
  database: Database,
  brandIds: readonly string[],
  { after, upTo }: RuleRange,
  limit: number | null,
): Promise<readonly Pair[]> => {
  if (brandIds.length === 0) return [];
  const { rows } = await database.query<Pair>({
    name: 'rules of brands',
    text: `select brand_id, alert_id from alerting.rule_brand
           where brand_id = any($1::uuid[]) and alert_id > $2 and alert_id <= $3 limit $4`,
    values: [brandIds, after, upTo, limit],
  });
  return rows;
};

const readRules = async (
  database: Database,
  alertIds: readonly string[],
  whole: readonly string[],
): Promise<readonly AlertRule[]> => {
  if (alertIds.length === 0) return [];
  const { rows } = await database.query<{ rule: AlertRule }>({
    name: 'rules by id',
    text: `select case when alert_id = any($2::uuid[]) then rule else rule || '{"brand_ids": []}' end as rule
           from alerting.rule where alert_id = any($1::uuid[]) order by alert_id`,
    values: [alertIds, whole],
  });
  return rows.map(({ rule }) => rule);
};

const addTo = (index: Map<string, Set<string>>, brandId: string, alertId: string): void => {
  const ids = index.get(brandId) ?? new Set();
  index.set(brandId, ids.add(alertId));
};

export const openActiveRules = (database: Database): StoredRules => {
  const byId = new Map<string, AlertRule>();
  const byBrand = new Map<string, Set<string>>();
  const brandsOf = new Map<string, Set<string>>();
  const loadedBrands = new Set<string>();
  const wholeRules = new Set<string>();
  const changed = new Map<string, AlertRule | null>();

  const index = (brandId: string, alertId: string): void => {
    addTo(byBrand, brandId, alertId);
    addTo(brandsOf, alertId, brandId);
  };
  const set = (alertId: string, rule: AlertRuleState): void => {
    for (const brandId of brandsOf.get(alertId) ?? []) byBrand.get(brandId)?.delete(alertId);
    brandsOf.delete(alertId);
    const present = rule === null || rule.status === 'deleted' ? null : rule;
    changed.set(alertId, present);
    wholeRules.add(alertId);
    if (present === null) {
      byId.delete(alertId);
      return;
    }
    byId.set(alertId, present);
    for (const brandId of present.brand_ids) index(brandId, alertId);
  };

  return {
    get: (alertId) => byId.get(alertId) ?? null,
    set,
    firing: (brandId, trigger) =>
      [...(byBrand.get(brandId) ?? [])]
        .map((alertId) => byId.get(alertId))
        .filter((rule): rule is AlertRule => isActive(rule ?? null) && rule?.trigger === trigger),
    load: async ({ brandIds = [], range = EVERY_RULE, changing = [], others = [] }, pairsMax = null) => {
      const newBrands = brandIds.filter((brandId) => !loadedBrands.has(brandId));
      const pairs = await readPairs(database, newBrands, range, pairsMax === null ? null : pairsMax + 1);
      if (pairsMax !== null && pairs.length > pairsMax) return false;
      const whole = changing.filter((alertId) => !wholeRules.has(alertId) && !changed.has(alertId));
      const unknown = [...pairs.map(({ alert_id }) => alert_id), ...others].filter(
        (alertId) => !byId.has(alertId) && !changed.has(alertId),
      );
      const missing = [...new Set([...whole, ...unknown])];
      for (const rule of await readRules(database, missing, whole)) byId.set(rule.alert_id, rule);
      for (const { brand_id, alert_id } of pairs) if (!changed.has(alert_id)) index(brand_id, alert_id);
      for (const brandId of newBrands) loadedBrands.add(brandId);
      for (const alertId of whole) wholeRules.add(alertId);
      return true;
    },
    forget: () => {
      for (const one of [byId, byBrand, brandsOf, loadedBrands, wholeRules]) one.clear();
    },
    trim: () => {
      for (const alertId of wholeRules) {
        const rule = byId.get(alertId);
        if (rule !== undefined) byId.set(alertId, { ...rule, brand_ids: [] });
      }
      wholeRules.clear();
      return Math.max(byId.size, loadedBrands.size);
    },
    save: async (client) => {
      if (changed.size === 0) return;
      await write(client, changed);
      changed.clear();
    },
  };
};

const write = async (client: Transaction, changed: ReadonlyMap<string, AlertRule | null>): Promise<void> => {
  const ids = [...changed.keys()];
  const present = [...changed.values()].filter((rule) => rule !== null);
  const gone = ids.filter((alertId) => changed.get(alertId) === null);
  const pairs = present.flatMap(({ alert_id, brand_ids }) =>
    brand_ids.map((brand_id) => ({ alert_id, brand_id })),
  );
  await Promise.all([
    client.query('delete from alerting.rule_brand where alert_id = any($1::uuid[])', [ids]),
    client.query(
      `insert into alerting.rule (alert_id, rule) select * from unnest($1::uuid[], $2::jsonb[])
       on conflict (alert_id) do update set rule = excluded.rule`,
      [present.map(({ alert_id }) => alert_id), present.map((rule) => JSON.stringify(rule))],
    ),
    client.query(
      `insert into alerting.rule_brand (alert_id, brand_id) select * from unnest($1::uuid[], $2::uuid[])
       on conflict do nothing`,
      [pairs.map(({ alert_id }) => alert_id), pairs.map(({ brand_id }) => brand_id)],
    ),
    ...['rule', 'told_signal'].map((table) =>
      client.query(`delete from alerting.${table} where alert_id = any($1::uuid[])`, [gone]),
    ),
  ]);
};
