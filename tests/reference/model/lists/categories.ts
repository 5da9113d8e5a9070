import type { CategoryFigures, Figures, Profile, World } from '../../world.ts';

const profilesOf = ({ observations }: World): Profile[] =>
  observations
    .filter((observation): observation is Profile => observation.kind === 'profile')
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));

const SEPARATOR = ' > ';
const levelsOf = (category: readonly string[]): string[] =>
  category.map((_, level) => category.slice(0, level + 1).join(SEPARATOR));

/** The categories are those of the brand's newest profile (rule 4). */
export const categoriesOf = (brand: string, world: World): string[] =>
  levelsOf(profilesOf(world).findLast((profile) => profile.brand === brand)?.category ?? []);

const newestOf = (times: readonly (string | null)[]): string | null =>
  times
    .filter((time) => time !== null)
    .toSorted()
    .at(-1) ?? null;

/** Decision: a category that a profile named stays one without brands. It is as of its newest observation. */
export const categoryFigures = (
  world: World,
  { brands, profiles }: Pick<Figures, 'brands' | 'profiles'>,
): Record<string, CategoryFigures> => {
  const names = [...new Set(profilesOf(world).flatMap(({ category }) => levelsOf(category)))];
  const figuresOf = (name: string): CategoryFigures => {
    const own = world.brands.filter((brand) => categoriesOf(brand, world).includes(name));
    const sum = (count: (brand: string) => number): number =>
      own.reduce((total, brand) => total + count(brand), 0);
    const looks = own.map((brand) => profiles[brand]?.as_of.brands ?? null);
    const profiled = profilesOf(world).filter(({ brand }) => own.includes(brand));
    return {
      brands: own.length,
      active: sum((brand) => (brands[brand]?.active ?? 0) + (brands[brand]?.missing ?? 0)),
      total: sum((brand) => brands[brand]?.total ?? 0),
      children: names.filter((other) => levelsOf(other.split(SEPARATOR)).at(-2) === name).length,
      as_of: newestOf([...looks, ...profiled.map(({ at }) => at)]),
    };
  };
  return Object.fromEntries(names.map((name) => [name, figuresOf(name)]));
};
