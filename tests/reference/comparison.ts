import fc from 'fast-check';
import type { Feature } from './features.ts';
import { expectedFigures } from './model.ts';
import type { Outcome, ServiceUnderComparison } from './service/service.ts';
import { stagesOf } from './stages.ts';
import { type Difference, differencesOf, tellFailure } from './story.ts';
import type { World } from './world.ts';
import { worldArbitrary } from './worlds.ts';

const BATCH_WORLDS = 500;

const differencesIn = (world: World, outcome: Outcome): readonly Difference[] =>
  outcome.figures === null
    ? [{ figure: 'error', expected: undefined, actual: outcome.error }]
    : differencesOf(expectedFigures(world), outcome.figures);

export type ComparisonOptions = {
  readonly features: readonly Feature[];
  /** Each stage of a generated world counts. */
  readonly worlds: number;
  /** Maximum stages at which a generated world is compared; see `stagesOf`. */
  readonly stages: number;
  readonly seed: number;
};

/** `place`: of the generated world in the sequence of the seed. `stage`: from 0. */
type Differing = {
  readonly world: World;
  readonly place: number;
  readonly stage: number;
  readonly differences: readonly Difference[];
};

export type Comparison = {
  readonly worlds: number;
  readonly generated: number;
  readonly differing: number;
  /** Worlds by the kind of figure that differs in them, such as `ad: status`. */
  readonly byFigure: ReadonlyMap<string, readonly Differing[]>;
};

/** Shortens `ad a1: status` to `ad: status`, to count the differences of all worlds by kind. */
const kindOf = ({ figure }: Difference): string => figure.replace(/^(\w+) .*: /, '$1: ');

const worldsOf = ({ features, worlds, stages, seed }: ComparisonOptions): (readonly World[])[] => {
  let left = worlds;
  return fc.sample(worldArbitrary(features), { numRuns: worlds, seed }).flatMap((world) => {
    const compared = stagesOf(world, stages).slice(0, left);
    left -= compared.length;
    return compared.length === 0 ? [] : [compared];
  });
};

export const compareWorlds = async (
  service: ServiceUnderComparison,
  options: ComparisonOptions,
): Promise<Comparison> => {
  const generated = worldsOf(options);
  let worlds = 0;
  let differing = 0;
  const byFigure = new Map<string, Differing[]>();
  for (let from = 0; from < generated.length; from += BATCH_WORLDS) {
    const batch = generated.slice(from, from + BATCH_WORLDS);
    const outcomes = await service.run(batch);
    batch.forEach((stages, index) =>
      stages.forEach((world, stage) => {
        worlds += 1;
        const differences = differencesIn(world, outcomes[index]?.[stage] as Outcome);
        if (differences.length > 0) differing += 1;
        for (const kind of new Set(differences.map(kindOf)))
          byFigure.set(kind, [
            ...(byFigure.get(kind) ?? []),
            { world, place: from + index, stage, differences },
          ]);
      }),
    );
  }
  return { worlds, generated: generated.length, differing, byFigure };
};

/** Tells the smallest world of each kind. A kind that an earlier one shows is left out. */
export const tellDifferences = ({ byFigure }: Comparison, stories: number): string => {
  const told: Differing[] = [];
  for (const [kind, differing] of byFigure) {
    if (told.length >= stories) break;
    if (told.some(({ differences }) => differences.some((one) => kindOf(one) === kind))) continue;
    const sizeOf = ({ world }: Differing): number => JSON.stringify(world).length;
    told.push(...differing.toSorted((a, b) => sizeOf(a) - sizeOf(b)).slice(0, 1));
  }
  return told
    .map(
      ({ world, place, stage, differences }) =>
        `World no. ${place}, stage ${stage + 1}:\n${tellFailure(world, differences)}`,
    )
    .join('\n\n');
};
