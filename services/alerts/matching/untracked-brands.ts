import type { TrackingEvent } from '#contracts/events/workspace/workspace.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

/** A rule keeps an untracked brand, but fires on it only while its workspace tracks it. */
export type UntrackedBrands = {
  has(workspaceId: string, brandId: string): boolean;
  follow(event: TrackingEvent): void;
  load(brandIds: readonly string[]): Promise<void>;
  forget(): void;
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
