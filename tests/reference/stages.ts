import type { World } from './world.ts';

/**
 * Returns worlds of the first observations in the order of arrival, at most `max`, evenly apart, each with a scan. The
 * last is the whole world. A stage costs a dozen reads, and a world of its own hundreds of statements.
 */
export const stagesOf = (world: World, max: number): readonly World[] => {
  const { observations } = world;
  const worlds = observations
    .map((_, index) => ({ ...world, observations: observations.slice(0, index + 1) }))
    .filter(
      (stage) =>
        stage.observations.length === observations.length ||
        stage.observations.some(({ kind }) => kind === 'scan'),
    );
  const places = Array.from(
    { length: max },
    (_, index) => Math.ceil((worlds.length * (index + 1)) / max) - 1,
  );
  return [...new Set(places)].flatMap((place) => worlds[place] ?? []);
};
