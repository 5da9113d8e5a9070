import fc from 'fast-check';
import type { Feature } from './features.ts';
import { expectedFigures } from './model.ts';
import type { Outcome, ServiceUnderComparison } from './service/service.ts';
import { type Difference, differencesOf, tellFailure } from './story.ts';
import type { World } from './world.ts';
import { worldArbitrary } from './worlds.ts';

/** Compares the service with the model over generated worlds, and shrinks a world in which they differ. */

/** Worlds that go through the service between two reads of their figures. */
const BATCH_WORLDS = 500;
/** Maximum milliseconds of shrinking one world. */
const SHRINK_LIMIT_MS = 15_000;

const differencesIn = (world: World, outcome: Outcome): readonly Difference[] =>
  outcome.figures === null
    ? [{ figure: 'error', expected: undefined, actual: outcome.error }]
    : differencesOf(expectedFigures(world), outcome.figures);

export type ComparisonOptions = {
  readonly features: readonly Feature[];
  readonly worlds: number;
  readonly seed: number;
};

export type Comparison = {
  readonly worlds: number;
  /** Number of worlds in which some figure differs. */
  readonly differing: number;
  /** Worlds by the kind of figure that differs in them, such as `ad: status`; places in the sequence of the seed. */
  readonly byFigure: ReadonlyMap<string, readonly number[]>;
};

/** Shortens `ad a1: status` to `ad: status`, to count the differences of all worlds by kind. */
const kindOf = ({ figure }: Difference): string => figure.replace(/^(\w+) .*: /, '$1: ');

export const compareWorlds = async (
  service: ServiceUnderComparison,
  { features, worlds, seed }: ComparisonOptions,
): Promise<Comparison> => {
  const generated = fc.sample(worldArbitrary(features), { numRuns: worlds, seed });
  let differing = 0;
  const byFigure = new Map<string, number[]>();
  for (let from = 0; from < generated.length; from += BATCH_WORLDS) {
    const batch = generated.slice(from, from + BATCH_WORLDS);
    const outcomes = await service.run(batch);
    batch.forEach((world, index) => {
      const kinds = new Set(differencesIn(world, outcomes[index] as Outcome).map(kindOf));
      if (kinds.size > 0) differing += 1;
      for (const kind of kinds) byFigure.set(kind, [...(byFigure.get(kind) ?? []), from + index]);
    });
  }
  return { worlds: generated.length, differing, byFigure };
};

/**
 * Returns the story of the smallest world that shrinking finds from one differing world. `kind` is the kind of figure
 * that stays different, so that shrinking does not drift from one fault to another.
 */
export const shrinkWorld = async (
  service: ServiceUnderComparison,
  { features, seed }: Omit<ComparisonOptions, 'worlds'>,
  kind: string,
  place: number,
): Promise<string> => {
  let smallest = `World no. ${place} of seed ${seed} does not differ when it is run alone.`;
  const property = fc.asyncProperty(worldArbitrary(features), async (world) => {
    const [outcome] = await service.run([world]);
    const differences = differencesIn(world, outcome as Outcome);
    if (!differences.some((difference) => kindOf(difference) === kind)) return true;
    smallest = tellFailure(world, differences);
    return false;
  });
  const atPlace = { seed, path: String(place), numRuns: 1 };
  await fc.check(property, { ...atPlace, interruptAfterTimeLimit: SHRINK_LIMIT_MS });
  return smallest;
};
