import { expect } from 'vitest';
import type { Random } from '#deploy/local/demo/world/seeded-random.ts';
import { clearArchiveFaults } from '#tests/world/archive-faults.ts';
import { HOUR_MS, SECOND_MS } from '#contracts/values/time.ts';
import { addBrand, linkPage } from '#services/collector/add/add-brand.ts';
import { type AddContext, withAddContext } from '#services/collector/add/add-context.ts';
import { ADD_FAULTS, setArchiveFaults, setShopFaults, SHOP_FAULTS } from './played-faults.ts';
import type { PlayedBrand, Weeks } from './played-weeks.ts';

const CHOICES = { cadence: 'daily', name: null, progress: () => undefined } as const;
const SHUT_MAX_MS = 2 * HOUR_MS;

const linkOthers = async (
  { clock }: Weeks,
  context: AddContext,
  { brand, pages }: PlayedBrand,
  linked: ReadonlySet<string>,
): Promise<number> => {
  const others = pages.filter(({ id }) => !linked.has(id));
  for (const { id } of others) {
    // The later of two observations of a link counts.
    clock.advance(SECOND_MS);
    const shown = await linkPage(context, brand.domain, id);
    expect(shown.filter(({ pageId }) => pageId === id).map(({ state }) => state)).not.toContain(
      'quarantined',
    );
  }
  return others.length;
};

function* faultsAtRandom(random: Random): Generator<string, never> {
  for (;;) yield random.pick(Object.keys(SHOP_FAULTS));
}

/** Some faults let the command succeed; none may be an exception. */
const addDisturbed = async (
  weeks: Weeks,
  context: AddContext,
  played: PlayedBrand,
  random: Random,
): Promise<void> => {
  setArchiveFaults(weeks, [random.pick(ADD_FAULTS)], played);
  setShopFaults(weeks, faultsAtRandom(random), [played]);
  await addBrand(context, played.brand.domain);
  weeks.world.faults.clear();
  clearArchiveFaults(weeks.world.archive);
  weeks.clock.advance(SHUT_MAX_MS);
  await weeks.setToken();
};

export type Added = { readonly found: number; readonly decided: number };

/** Links uncertain pages too. With `random`, each third brand is first added under faults, and then again. */
export const addBrands = (weeks: Weeks, random: Random | null = null): Promise<Added> =>
  withAddContext(
    CHOICES,
    async (context) => {
      let found = 0;
      let decided = 0;
      for (const [index, played] of weeks.brands.entries()) {
        if (random !== null && index % 3 === 0) await addDisturbed(weeks, context, played, random);
        const added = await addBrand(context, played.brand.domain);
        expect(added.sources.map(({ source }) => source)).toEqual(['site', 'storefront']);
        const own = new Set(played.pages.map(({ id }) => id));
        const linked = added.pages.filter(({ state }) => state === 'linked').map(({ pageId }) => pageId);
        // Other brands' pages and shared ones may name the domain, but are never linked without an operator.
        expect(linked.filter((id) => !own.has(id))).toEqual([]);
        found += linked.length;
        decided += await linkOthers(weeks, context, played, new Set(linked));
      }
      return { found, decided };
    },
    weeks.surroundings,
  );
