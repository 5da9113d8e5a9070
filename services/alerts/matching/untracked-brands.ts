import type { TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

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

type Pair = { readonly workspace_id: string; readonly brand_id: string };
const keyOf = ({ workspace_id, brand_id }: Pair): string => `${workspace_id} ${brand_id}`;

const insert = (client: Transaction, pairs: readonly Pair[]): Promise<unknown> =>
  client.query(
    `insert into alerting.untracked (workspace_id, brand_id) select * from unnest($1::text[], $2::uuid[])
     on conflict do nothing`,
    [pairs.map(({ workspace_id }) => workspace_id), pairs.map(({ brand_id }) => brand_id)],
  );

/** Opens the set of untracked brands over its table. */
export const openUntrackedBrands = (database: Database): UntrackedBrands => {
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
