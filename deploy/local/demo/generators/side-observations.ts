import type { Observation } from '#contracts/observations/index.ts';
import { creatives } from './creative-files.ts';
import { operators } from './operators.ts';
import { pages } from './landing-pages.ts';
import { sites } from './sites.ts';
import { storefronts } from './storefronts.ts';
import { traffic } from './traffic.ts';
import type { World } from '../world/world.ts';

/**
 * Generates the observations besides ad scans: sites, shops, traffic, files. Each generator depends only on the
 * world's seed, so its observations are the same each time. They are dated within the corpus (`firstDayMs` is
 * midnight of its first day) and published once, before the scans.
 */
export const SIDE_OBSERVATIONS: readonly ((world: World, firstDayMs: number) => Iterable<Observation>)[] = [
  pages,
  creatives,
  traffic,
  sites,
  storefronts,
  operators,
];
