import type { Observation } from '#contracts/observations/index.ts';
import { creatives } from './creative-files.ts';
import { operators } from './operators.ts';
import { pages } from './landing-pages.ts';
import { sites } from './sites.ts';
import { storefronts } from './storefronts.ts';
import { traffic } from './traffic.ts';
import type { World } from '../world/world.ts';

/**
 * Each generator depends only on the seed. Dated within the corpus and published once, before the scans. `firstDayMs`
 * is midnight of its first day.
 */
export const SIDE_OBSERVATIONS: readonly ((world: World, firstDayMs: number) => Iterable<Observation>)[] = [
  pages,
  creatives,
  traffic,
  sites,
  storefronts,
  operators,
];
