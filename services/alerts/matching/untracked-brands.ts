import type { MatchingState } from '#application/alerts/match-events.ts';
import type { Database, Transaction } from '#platform/postgres/pool.ts';

export type UntrackedBrands = MatchingState['untracked'] & {
  load(brandIds: readonly string[]): Promise<void>;
  forget(): void;
  /** Counts what is in memory. */
  size(): number;
  save(client: Transaction): Promise<void>;
};

type Pair = { readonly workspace_id: string; readonly brand_id: string };
const keyOf = ({ workspace_id, brand_id }: Pair): string => `${workspace_id} ${brand_id}`;

const columnsOf = (pairs: readonly Pair[]): string[][] => [
  pairs.map(({ workspace_id }) => workspace_id),
  pairs.map(({ brand_id }) => brand_id),
];

export const openUntrackedBrands = (database: Database): UntrackedBrands => {
  const untracked = new Set<string>();
  const loaded = new Set<string>();
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
      const unknown = brandIds.filter((brandId) => !loaded.has(brandId));
      if (unknown.length === 0) return;
      const { rows } = await database.query<Pair>({
        name: 'untracked brands',
        text: 'select workspace_id, brand_id from alerting.untracked where brand_id = any($1::uuid[])',
        values: [unknown],
      });
      for (const pair of rows) untracked.add(keyOf(pair));
      for (const brandId of unknown) loaded.add(brandId);
    },
    forget: () => {
      untracked.clear();
      loaded.clear();
    },
    size: () => untracked.size + loaded.size,
    save: async (client) => {
      if (changed.size === 0) return;
      const untrackedNow = [...changed.values()].filter((pair) => untracked.has(keyOf(pair)));
      const tracked = [...changed.values()].filter((pair) => !untracked.has(keyOf(pair)));
      changed.clear();
      await Promise.all([
        client.query(
          `insert into alerting.untracked (workspace_id, brand_id) select * from unnest($1::text[], $2::uuid[])
           on conflict do nothing`,
          columnsOf(untrackedNow),
        ),
        client.query(
          `delete from alerting.untracked u using unnest($1::text[], $2::uuid[]) as t (workspace_id, brand_id)
           where u.workspace_id = t.workspace_id and u.brand_id = t.brand_id`,
          columnsOf(tracked),
        ),
      ]);
    },
  };
};
