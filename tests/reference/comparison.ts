import fc from 'fast-check';
import type { Feature } from './features.ts';
import { expectedFigures } from './model.ts';
import type { Outcome, ServiceUnderComparison } from './service/service.ts';
import { shrink } from './failures/shrink.ts';
import { type Difference, differencesOf, tellFailure } from './failures/story.ts';
import { stagesOf } from './stages.ts';
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

/** The place of a compared world: that of the generated world in the sequence of the seed, and its stage, from 0. */
type Place = { readonly world: number; readonly stage: number };

export type Comparison = {
  readonly worlds: number;
  readonly generated: number;
  readonly differing: number;
  /** Worlds by the kind of figure that differs in them, such as `ad: status`. */
  readonly byFigure: ReadonlyMap<string, readonly Place[]>;
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
  const byFigure = new Map<string, Place[]>();
  for (let from = 0; from < generated.length; from += BATCH_WORLDS) {
    const batch = generated.slice(from, from + BATCH_WORLDS);
    const outcomes = await service.run(batch);
    batch.forEach((stages, index) =>
      stages.forEach((world, stage) => {
        worlds += 1;
        const kinds = new Set(differencesIn(world, outcomes[index]?.[stage] as Outcome).map(kindOf));
        if (kinds.size > 0) differing += 1;
        for (const kind of kinds)
          byFigure.set(kind, [...(byFigure.get(kind) ?? []), { world: from + index, stage }]);
      }),
    );
  }
  return { worlds, generated: generated.length, differing, byFigure };
};

type Story = { readonly text: string; readonly kinds: ReadonlySet<string> };

/**
 * `kind` stays different, so that shrinking does not drift to another fault. A world that does not differ alone is not
 * shrunk: its story says whether its stages or other worlds make it differ.
 */
const tellShrunk = async (
  service: ServiceUnderComparison,
  { features, stages: stagesMax, seed }: Omit<ComparisonOptions, 'worlds'>,
  kind: string,
  { world: place, stage }: Place,
): Promise<Story> => {
  const generated = fc.sample(worldArbitrary(features), { numRuns: place + 1, seed })[place] as World;
  const stages = stagesOf(generated, stagesMax).slice(0, stage + 1);
  const world = stages.at(-1) as World;
  const found = new Map<World, readonly Difference[]>();
  const isOfKind = (difference: Difference): boolean => kindOf(difference) === kind;
  const differ = async (worlds: readonly World[]): Promise<boolean[]> => {
    const outcomes = await service.run(worlds.map((one) => [one]));
    return worlds.map((one, index) => {
      const differences = differencesIn(one, outcomes[index]?.[0] as Outcome);
      found.set(one, differences);
      return differences.some(isOfKind);
    });
  };
  const [differsAgain] = await differ([world]);
  if (!differsAgain) {
    const [grown = []] = await service.run([stages]);
    const differences = differencesIn(world, grown.at(-1) as Outcome);
    const when = differences.some(isOfKind)
      ? 'when its earlier stages are projected by themselves'
      : 'together with other worlds';
    const text = `World no. ${place}, stage ${stage + 1} of seed ${seed} differs in ${kind} only ${when}.`;
    return { text: `${text}\n${tellFailure(world, differences)}`, kinds: new Set([kind]) };
  }
  const smallest = await shrink(world, differ);
  const differences = found.get(smallest) ?? [];
  return { text: tellFailure(smallest, differences), kinds: new Set(differences.map(kindOf)) };
};

/** A kind that an earlier shrunk world shows is left out. */
export const tellDifferences = async (
  service: ServiceUnderComparison,
  options: Omit<ComparisonOptions, 'worlds'>,
  { byFigure }: Comparison,
  stories: number,
): Promise<string> => {
  const told: Story[] = [];
  for (const [kind, [place = { world: 0, stage: 0 }]] of byFigure) {
    if (told.length >= stories) break;
    if (told.some(({ kinds }) => kinds.has(kind))) continue;
    told.push(await tellShrunk(service, options, kind, place));
  }
  return told.map(({ text }) => text).join('\n\n');
};
