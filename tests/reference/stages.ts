import type { World } from './world.ts';

/**
 * Returns the stages of a world that grows: worlds of its first observations in the order of arrival, at most `max` of
 * them, evenly apart. Each has a scan. The last stage is the whole world. What arrived so far is a world of its own: what
 * comes late or changes a link has not arrived in it yet. A stage costs a dozen reads, and a world on its own hundreds of
 * statements.
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
