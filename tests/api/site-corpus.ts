import type { GivenFact } from '#tests/dsl/projections.ts';
import type { ApiStack } from './stack.ts';

/** Facts of sites, shops and traffic, appended to streams of their own. */

const METADATA = {
  $correlationId: 'sites',
  $causationId: 'sites',
  request_id: 'sites',
  actor: { kind: 'service', id: 'tests' },
  schema_version: 1,
} as const;

/** Records the facts, each stream from its beginning, and waits until every projection shows them. */
export const seedFacts = async (stack: ApiStack, facts: readonly GivenFact[]): Promise<void> => {
  let position = 0n;
  for (const [stream, of] of Map.groupBy(facts, (given) => given.stream)) {
    const recorded = of.map(({ fact }) => fact);
    const appended = await stack.eventStore.append(stream, -1n, recorded, METADATA, `seed ${stream}`);
    ({ position } = appended);
  }
  await stack.projected(position);
};
