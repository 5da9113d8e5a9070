import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { Refusal } from '#contracts/errors.ts';
import { createKeyedMutex } from '#platform/concurrency/keyed-mutex.ts';
import { outsideTimeBudget, requireTime, untilTimeUsedUp } from '#platform/concurrency/time-budget.ts';
import type { Database } from '#platform/postgres/pool.ts';

/**
 * Minutes for which a claim counts that no request has ended: its process died, or the read model is that far behind.
 */
const CLAIM_MINUTES = 10;
const IS_VALID = `claimed_at > now() - interval '${CLAIM_MINUTES} minutes'`;

/** The row of the list is locked until the claim is stored, so claims become visible in the order of their places. */
const CLAIM = `
  with next as (
    insert into access.growth as g (owner, kind, claims) values ($1, $2, 1)
    on conflict (owner, kind) do update set claims = g.claims + 1 returning claims)
  insert into access.growth_claim (owner, kind, place, item) select $1, $2, claims, $3 from next returning place`;
/** An earlier attempt of the same request may have left a claim on the same item, which is counted once. */
const EARLIER = `
  select distinct item from access.growth_claim
  where owner = $1 and kind = $2 and place < $3 and item <> $4 and ${IS_VALID}`;
const END = `
  delete from access.growth_claim where owner = $1 and kind = $2 and (place = $3 or not (${IS_VALID}))`;

/** An item that a request is creating, for a list with a cap. */
export type Growth = {
  /** The workspace whose list it is, or the workspace and the member. */
  readonly owner: string;
  readonly kind: 'alerts' | 'connections' | 'notes' | 'reports' | 'saved';
  /** Id of the item, as its read model has it. */
  readonly item: string;
};

/** Claims of items that requests are creating, over all processes, so that concurrent requests do not pass a cap. */
export type GrowthClaims = {
  /**
   * Claims a place for an item while `count` and then `create` run. `count` returns the number of items that the read model
   * shows and those of `claimed` that it does not show yet. `claimed`: items that were claimed before. The claim stays when
   * the item is not shown yet, or when it is not known whether `create` recorded it.
   */
  hold<Count, T extends { readonly isShown: boolean }>(
    growth: Growth,
    count: (db: ReadDatabase, claimed: readonly string[]) => Promise<Count>,
    create: (counted: Count) => Promise<T>,
  ): Promise<T>;
};

/** Creates the claims over the tables of `access`. */
export const createGrowthClaims = (pool: Database): GrowthClaims => {
  /** One claim of a list at a time waits for its row, so that those of others get connections. */
  const inOrder = createKeyedMutex();
  const run = async <Row>({ sql, values }: { sql: string; values: readonly unknown[] }) =>
    (await pool.query(sql, [...values])).rows as readonly Row[];
  /** Reads on the connections of commands. On those of reads, counts of one workspace would wait like its searches. */
  const db: ReadDatabase = { query: run, slow: run };

  /**
   * Ends a claim, also when the time of its request is over: it would count for minutes. When that fails, it counts for them, and
   * the reply of the request does not change.
   */
  const end = async ({ owner, kind }: Growth, place: string): Promise<void> => {
    await outsideTimeBudget(() => pool.query(END, [owner, kind, place])).catch(() => undefined);
  };

  const claim = async (growth: Growth): Promise<string> => {
    const { owner, kind, item } = growth;
    const claimed = inOrder(`${kind} ${owner}`, async () => {
      requireTime();
      const [row] = await run<{ place: string }>({ sql: CLAIM, values: [owner, kind, item] });
      if (!row) throw new Error('a claim has no place');
      return row.place;
    });
    try {
      return await untilTimeUsedUp(claimed);
    } catch (error) {
      // It may be stored after its request has ended.
      claimed.then((place) => end(growth, place)).catch(() => undefined);
      throw error;
    }
  };

  return {
    hold: async (growth, count, create) => {
      const { owner, kind, item } = growth;
      const place = await claim(growth);
      let counted: Awaited<ReturnType<typeof count>>;
      try {
        const earlier = await run<{ item: string }>({ sql: EARLIER, values: [owner, kind, place, item] });
        counted = await count(
          db,
          earlier.map((row) => row.item),
        );
      } catch (error) {
        await end(growth, place);
        throw error;
      }
      try {
        const created = await create(counted);
        if (created.isShown) await end(growth, place);
        return created;
      } catch (error) {
        if (error instanceof Refusal && error.code !== 'overloaded') await end(growth, place);
        throw error;
      }
    },
  };
};
