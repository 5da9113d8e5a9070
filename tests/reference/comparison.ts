import fc from 'fast-check';
import type { Feature } from './features.ts';
import { expectedFigures } from './model.ts';
import type { Outcome, ServiceUnderComparison } from './service/service.ts';
import { shrink } from './failures/shrink.ts';
import { type Difference, differencesOf, tellFailure } from './failures/story.ts';
import type { World } from './world.ts';
import { worldArbitrary } from './worlds.ts';

/** Compares the service with the model over generated worlds, and shrinks a world in which they differ. */

/** Worlds that go through the service between two reads of their figures. */
const BATCH_WORLDS = 500;

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

/** A shrunk world as text, and the kinds of figures that differ in it. */
type Story = { readonly text: string; readonly kinds: ReadonlySet<string> };

/**
 * Tells the smallest world that shrinking finds from one differing world. `kind` is the kind of figure that stays
 * different, so that shrinking does not drift from one fault to another.
 */
const tellShrunk = async (
  service: ServiceUnderComparison,
  { features, seed }: Omit<ComparisonOptions, 'worlds'>,
  kind: string,
  place: number,
): Promise<Story> => {
  const world = fc.sample(worldArbitrary(features), { numRuns: place + 1, seed })[place] as World;
  const found = new Map<World, readonly Difference[]>();
  const differ = async (worlds: readonly World[]): Promise<boolean[]> => {
    const outcomes = await service.run(worlds);
    return worlds.map((one, index) => {
      const differences = differencesIn(one, outcomes[index] as Outcome);
      found.set(one, differences);
      return differences.some((difference) => kindOf(difference) === kind);
    });
  };
  const [differsAgain] = await differ([world]);
  if (!differsAgain) {
    const text = `World no. ${place} of seed ${seed} differs only together with other worlds.`;
    return { text, kinds: new Set([kind]) };
  }
  const smallest = await shrink(world, differ);
  const differences = found.get(smallest) ?? [];
  return { text: tellFailure(smallest, differences), kinds: new Set(differences.map(kindOf)) };
};

/** Tells a shrunk world for each kind of differing figure, up to a number. A kind that a told world shows is left out. */
export const tellDifferences = async (
  service: ServiceUnderComparison,
  options: Omit<ComparisonOptions, 'worlds'>,
  { byFigure }: Comparison,
  stories: number,
): Promise<string> => {
  const told: Story[] = [];
  for (const [kind, [place = 0]] of byFigure) {
    if (told.length >= stories) break;
    if (told.some(({ kinds }) => kinds.has(kind))) continue;
    told.push(await tellShrunk(service, options, kind, place));
  }
  return told.map(({ text }) => text).join('\n\n');
};
