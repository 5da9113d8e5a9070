import type { World } from './world.ts';

/**
 * True when the world has a scan, and a scan or profile of each brand that a link names. The service shows an ad only after its
 * brand is registered, which a link does not do.
 */
const isWhole = ({ observations }: World): boolean => {
  const registered = new Set(observations.flatMap(({ kind, brand }) => (kind === 'link' ? [] : [brand])));
  return (
    observations.some(({ kind }) => kind === 'scan') &&
    observations.every(({ kind, brand }) => kind !== 'link' || registered.has(brand))
  );
};

/**
 * Returns the stages of a world that grows: worlds of its first observations in the order of arrival, at most `max` of
 * them, evenly apart. The last stage is the whole world. What arrived so far is a world of its own: what comes late or
 * changes a link has not arrived in it yet. A stage costs a dozen reads, and a world on its own hundreds of statements.
 */
export const stagesOf = (world: World, max: number): readonly World[] => {
  const { observations } = world;
  const worlds = observations
    .map((_, index) => ({ ...world, observations: observations.slice(0, index + 1) }))
    .filter((stage) => stage.observations.length === observations.length || isWhole(stage));
  const places = Array.from(
    { length: max },
    (_, index) => Math.ceil((worlds.length * (index + 1)) / max) - 1,
  );
  return [...new Set(places)].flatMap((place) => worlds[place] ?? []);
};
