import type { Scan, ShownAd, World, WorldObservation } from '../world.ts';

/** All worlds that lack one part are tried at once, because many worlds take little more time than one. */

const LIMIT_MS = 60_000;

type Part =
  | { readonly kind: 'observation'; readonly place: number }
  | { readonly kind: 'ad'; readonly ad: string }
  | { readonly kind: 'shown'; readonly scan: string; readonly ad: string }
  | { readonly kind: 'page'; readonly scan: string; readonly page: string }
  | { readonly kind: 'country'; readonly scan: string; readonly country: string }
  | { readonly kind: 'field'; readonly field: Field }
  | { readonly kind: 'brand'; readonly brand: string }
  | { readonly kind: 'disorder' };
type Field = 'body' | 'title' | 'caption' | 'link';
const FIELDS: readonly Field[] = ['body', 'title', 'caption', 'link'];

const isScan = (observation: WorldObservation): observation is Scan => observation.kind === 'scan';
const keyOf = (observation: WorldObservation): string =>
  `${observation.at} ${isScan(observation) ? observation.id : ''}`;
const inOrder = (observations: readonly WorldObservation[]): WorldObservation[] =>
  observations.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

/** Coarse parts come first. */
const partsOf: readonly ((world: World) => readonly Part[])[] = [
  ({ observations }) => observations.map((_, place) => ({ kind: 'observation', place })),
  ({ brands, observations }) => {
    const scans = observations.filter(isScan);
    return [...new Set(scans.flatMap(({ ads }) => ads.map(({ ad }) => ad)))]
      .map((ad): Part => ({ kind: 'ad', ad }))
      .concat(
        brands.slice(1).map((brand): Part => ({ kind: 'brand', brand })),
        FIELDS.map((field): Part => ({ kind: 'field', field })),
        [{ kind: 'disorder' }],
      );
  },
  ({ observations }) =>
    [...new Set(observations)]
      .filter(isScan)
      .flatMap(({ id, ads, pages, countries }): Part[] => [
        ...ads.map(({ ad }): Part => ({ kind: 'shown', scan: id, ad })),
        ...pages.map((page): Part => ({ kind: 'page', scan: id, page })),
        ...(countries.length > 1
          ? countries.map((country): Part => ({ kind: 'country', scan: id, country }))
          : []),
      ]),
];

/** A repeated scan stays equal to its repetition. */
const without = (world: World, parts: readonly Part[]): World => {
  const has = (isPart: (part: Part) => boolean): boolean => parts.some(isPart);
  const shownWithout = (shown: ShownAd): ShownAd => {
    const blank = parts.flatMap((part) => (part.kind === 'field' ? [[part.field, null] as const] : []));
    return { ...shown, ...Object.fromEntries(blank) };
  };
  /** A scan keeps one page and one country: a scan without pages is of another kind. */
  const someLeft = (values: readonly string[], isLeft: (value: string) => boolean): readonly string[] => {
    const left = values.filter(isLeft);
    return left.length > 0 ? left : values.slice(-1);
  };
  const scanWithout = (scan: Scan): Scan => {
    const lacks = (isPart: (part: Part) => boolean): boolean =>
      has((part) => !('scan' in part && part.scan !== scan.id) && isPart(part));
    return {
      ...scan,
      ads: scan.ads.filter(({ ad }) => !lacks((part) => 'ad' in part && part.ad === ad)).map(shownWithout),
      pages: someLeft(scan.pages, (page) => !lacks((part) => part.kind === 'page' && part.page === page)),
      countries: someLeft(
        scan.countries,
        (country) => !lacks((part) => part.kind === 'country' && part.country === country),
      ),
    };
  };
  const reduced = new Map(
    world.observations.map((observation) => [
      observation,
      isScan(observation) ? scanWithout(observation) : observation,
    ]),
  );
  const isBrandOut = (brand: string): boolean => has((part) => part.kind === 'brand' && part.brand === brand);
  const observations = world.observations
    .filter(
      ({ brand }, place) =>
        !isBrandOut(brand) && !has((part) => part.kind === 'observation' && part.place === place),
    )
    .map((observation) => reduced.get(observation) ?? observation);
  return {
    brands: world.brands.filter((brand) => !isBrandOut(brand)),
    observations: has(({ kind }) => kind === 'disorder') ? inOrder(observations) : observations,
  };
};

const isSame = (a: World, b: World): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Returns a smaller world of which `differ` is still true; `differ` must be true of the given world. */
export const shrink = async (
  world: World,
  differ: (worlds: readonly World[]) => Promise<readonly boolean[]>,
): Promise<World> => {
  const deadline = Date.now() + LIMIT_MS;
  let smallest = world;
  for (let stage = 0; stage < partsOf.length && Date.now() < deadline; ) {
    const current = smallest;
    const parts = (partsOf[stage]?.(current) ?? []).filter(
      (part) => !isSame(without(current, [part]), current),
    );
    const single = await differ(parts.map((part) => without(current, [part])));
    const spare = parts.filter((_, index) => single[index]);
    if (spare.length === 0) {
      stage += 1;
      continue;
    }
    // Parts that can be left out one by one can often, but not always, be left out together.
    const together = spare.map((_, index) => without(current, spare.slice(0, index + 1)));
    const outcomes = await differ(together);
    smallest = together[Math.max(0, outcomes.lastIndexOf(true))] ?? current;
    // Each round leaves something out, so that the rounds end.
    if (isSame(smallest, current)) return current;
  }
  return smallest;
};
