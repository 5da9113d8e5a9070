import type { RecordedFact } from '#contracts/events/event.ts';
import { type Database, inTransaction, type Transaction } from '#platform/postgres/pool.ts';
import type { Projection } from '#projections/define-projection.ts';
import { type Group, planBatch } from './group-changes.ts';
import { type Catalog, enterSchema } from '../read-model-schema.ts';
import { writeGroup } from './write-changes.ts';

/** Where a projection's rows go, and how its checkpoint is kept with them. */
export type Target = {
  readonly projection: Projection;
  readonly schema: string;
  readonly catalog: Catalog;
  readonly saveCheckpoint: (client: Transaction, position: bigint, facts: number) => Promise<void>;
};

/** Facts that cannot be applied, as opposed to a database that cannot be reached. */
export class PoisonFact extends Error {
  readonly fact: RecordedFact;

  constructor(fact: RecordedFact, cause: unknown) {
    super(`${fact.type} at ${fact.position} in ${fact.stream}: ${(cause as Error).message}`, { cause });
    this.name = 'PoisonFact';
    this.fact = fact;
  }
}

/** SQL states of a server that goes, comes or is overloaded: the batch is tried again, not parked. */
const TRANSIENT = /^(08|53|57|58|40|55P03|25006|XX)/;
export const isTransient = (error: unknown): boolean => {
  // Its text names the stream, and a stream may be called anything: `traffic-socket.example`.
  if (error instanceof PoisonFact) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return TRANSIENT.test(code);
  if (typeof code === 'string') return true;
  return error instanceof Error && /connection|terminat|timeout|socket|closed/i.test(error.message);
};

/** What the facts change, grouped; throws `PoisonFact` for one that cannot be projected. */
export const planFacts = (projection: Projection, facts: readonly RecordedFact[]): Group[] => {
  const changes = facts.map((fact) => {
    try {
      return { stream: fact.stream, changes: projection.project(fact) };
    } catch (error) {
      throw new PoisonFact(fact, error);
    }
  });
  return planBatch(projection, changes);
};

const write = async (
  database: Database,
  target: Target,
  facts: readonly RecordedFact[],
  position: bigint,
): Promise<void> => {
  const groups = planFacts(target.projection, facts);
  await inTransaction(database, async (client) => {
    await enterSchema(client, target.schema);
    for (const group of groups) await writeGroup(client, target.projection, target.catalog, group);
    await target.saveCheckpoint(client, position, facts.length);
  });
};

/**
 * Applies facts and moves the checkpoint to `position` in one transaction. A fact that cannot be applied is
 * found by halving, so that one bad fact costs a few transactions, and is thrown as `PoisonFact` after all
 * facts before it are applied.
 */
export const applyBatch = async (
  database: Database,
  target: Target,
  facts: readonly RecordedFact[],
  position: bigint,
): Promise<void> => {
  try {
    await write(database, target, facts, position);
  } catch (error) {
    if (isTransient(error)) throw error;
    const only = facts[0];
    if (facts.length === 1 && only) throw error instanceof PoisonFact ? error : new PoisonFact(only, error);
    if (facts.length === 0) throw error;
    const middle = Math.ceil(facts.length / 2);
    const lastOfFirst = facts[middle - 1] as RecordedFact;
    await applyBatch(database, target, facts.slice(0, middle), lastOfFirst.position);
    await applyBatch(database, target, facts.slice(middle), position);
  }
};
