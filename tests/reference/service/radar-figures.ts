import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { listRadar } from '#projections/radar/read.ts';
import { numbered } from '../model/numbered.ts';
import type { RadarFigures, World } from '../world.ts';
import type { Placement } from './placement.ts';
import { instant, parsed } from './reply-values.ts';

/** Items of a world in one read: each scan shows an ad once, so that a world has less. */
const ITEMS_MAX = 200;

type RadarDocument = {
  readonly type: string;
  readonly observed_at: string;
  readonly destination_url: string | null;
  readonly previous_destination_url: string | null;
  readonly basis: RadarFigures['basis'];
  readonly stopped_on: string | null;
  readonly ad: { readonly id: string };
  readonly correction: string | null;
  readonly brand: { readonly id: string };
};

/** Reads the items of the brands of a world. Items that a correction withdrew are history, and no figures. */
export const readRadar = async (
  db: ReadDatabase,
  world: World,
  placement: Placement,
): Promise<Record<string, RadarFigures>> => {
  const brandIds = world.brands.map(placement.brandIdOf);
  const since = '2000-01-01T00:00:00.000Z';
  const { items } = await listRadar(db, { brandIds, since }, { limit: ITEMS_MAX, after: null });
  const link = (url: string | null): string | null => (url === null ? null : placement.linkOf(url));
  return numbered(
    items
      .map((item) => parsed(item) as RadarDocument)
      .filter(({ correction }) => correction !== 'withdrawn')
      .map((item) => ({
        name: `${placement.adOf(item.ad.id)} ${item.type} ${instant(item.observed_at)}`,
        item: {
          brand: placement.domainOf(item.brand.id),
          to: link(item.destination_url),
          from: link(item.previous_destination_url),
          basis: item.basis,
          stopped_on: item.stopped_on,
        },
      })),
  );
};
