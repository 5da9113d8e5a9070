import { type TrackingEvent, trackingStream } from '#contracts/events/workspace/workspace.ts';
import type { AlertRule } from '#domain/workspace/alert/rule-decider.ts';
import { tracking } from '#domain/workspace/tracked-brands.ts';
import type { EventStore } from '#platform/event-store/event-store.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import { FIRST_ID } from './rule-range.ts';

/**
 * Brands that workspaces no longer track. A rule stays when a brand of it is untracked, but it fires on that brand
 * only while its workspace tracks it.
 */
export type UntrackedBrands = {
  /** Only for brands that were loaded. */
  has(workspaceId: string, brandId: string): boolean;
  /** Follows an event of a brand that was loaded. */
  follow(event: TrackingEvent): void;
  /** Loads the workspaces that no longer track these brands. */
  load(brandIds: readonly string[]): Promise<void>;
  /** Removes the loaded pairs from memory. Call it after `save`. */
  forget(): void;
  /** Writes the changes since the last save. */
  save(client: Transaction): Promise<void>;
};

/** Maximum rules in memory, each with up to 500 brands, while the table is filled. */
const RULES_PER_PAGE = 100;

type Pair = { readonly workspace_id: string; readonly brand_id: string };
const keyOf = ({ workspace_id, brand_id }: Pair): string => `${workspace_id} ${brand_id}`;

/** Returns the brands of these rules that their workspaces do not track at this log position. */
const readUntracked = async (
  eventStore: EventStore,
  rules: readonly AlertRule[],
  position: bigint,
): Promise<readonly Pair[]> => {
  const untracked = new Map<string, Pair>();
  for (const [workspace_id, ofWorkspace] of Map.groupBy(rules, (rule) => rule.workspace_id)) {
    let state = tracking.initial;
    for await (const event of eventStore.read<TrackingEvent>(trackingStream(workspace_id))) {
      // From an unreadable event on, the stream waits for a release that reads it.
      if (event.unreadable !== undefined) break;
      if (event.position <= position) state = tracking.evolve(state, event);
    }
    for (const brand_id of ofWorkspace.flatMap(({ brand_ids }) => brand_ids)) {
      const pair = { workspace_id, brand_id };
      if (!state.brands.has(brand_id)) untracked.set(keyOf(pair), pair);
    }
  }
  return [...untracked.values()];
};

const insert = (client: Transaction, pairs: readonly Pair[]): Promise<unknown> =>
  client.query(
    `insert into alerting.untracked (workspace_id, brand_id) select * from unnest($1::text[], $2::uuid[])
     on conflict do nothing`,
    [pairs.map(({ workspace_id }) => workspace_id), pairs.map(({ brand_id }) => brand_id)],
  );

/** Fills the table from the tracking streams, some rules at a time, and notes at the end that it is filled. */
const fillUntracked = async (database: Database, eventStore: EventStore, position: bigint): Promise<void> => {
  for (let after = FIRST_ID; ; ) {
    const { rows } = await database.query<{ rule: AlertRule }>(
      `select rule from alerting.rule where alert_id > $1 order by alert_id limit ${RULES_PER_PAGE}`,
      [after],
    );
    const rules = rows.map(({ rule }) => rule);
    const pairs = await readUntracked(eventStore, rules, position);
    await inTransaction(database, (client) => insert(client, pairs));
    const last = rules.at(-1);
    if (last === undefined) break;
    after = last.alert_id;
  }
  await inTransaction(database, (client) =>
    client.query('update alerting.checkpoint set knows_tracking = true'),
  );
};

/**
 * Opens the set of untracked brands. `isKnown` is false for tables made by a version that did not follow tracking
 * streams; the set is then filled from those streams first.
 */
export const openUntrackedBrands = async (
  database: Database,
  eventStore: EventStore,
  state: { readonly position: bigint; readonly isKnown: boolean },
): Promise<UntrackedBrands> => {
  if (!state.isKnown) await fillUntracked(database, eventStore, state.position);
  const untracked = new Set<string>();
  const changed = new Map<string, Pair>();
  return {
    has: (workspace_id, brand_id) => untracked.has(keyOf({ workspace_id, brand_id })),
    follow: ({ type, data: { workspace_id, brand_id } }) => {
      const pair = { workspace_id, brand_id };
      if (type === 'BrandUntracked') untracked.add(keyOf(pair));
      else if (!untracked.delete(keyOf(pair))) return;
      changed.set(keyOf(pair), pair);
    },
    load: async (brandIds) => {
      if (brandIds.length === 0) return;
      const { rows } = await database.query<Pair>({
        name: 'untracked brands',
        text: 'select workspace_id, brand_id from alerting.untracked where brand_id = any($1::uuid[])',
        values: [brandIds],
      });
      for (const pair of rows) untracked.add(keyOf(pair));
    },
    forget: () => untracked.clear(),
    save: async (client) => {
      if (changed.size === 0) return;
      const untrackedNow = [...changed.values()].filter((pair) => untracked.has(keyOf(pair)));
      const tracked = [...changed.values()].filter((pair) => !untracked.has(keyOf(pair)));
      if (untrackedNow.length > 0) await insert(client, untrackedNow);
      if (tracked.length > 0) {
        await client.query(
          `delete from alerting.untracked u using unnest($1::text[], $2::uuid[]) as t (workspace_id, brand_id)
           where u.workspace_id = t.workspace_id and u.brand_id = t.brand_id`,
          [tracked.map(({ workspace_id }) => workspace_id), tracked.map(({ brand_id }) => brand_id)],
        );
      }
      changed.clear();
    },
  };
};
