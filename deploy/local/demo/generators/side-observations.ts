import type { Observation } from '#contracts/observations/index.ts';
import { creatives } from './creative-files.ts';
import { operators } from './operators.ts';
import { pages } from './landing-pages.ts';
import { sites } from './sites.ts';
import { storefronts } from './storefronts.ts';
import { traffic } from './traffic.ts';
import type { World } from '../world/world.ts';

/**
 * What is observed around the ads: of the brands' sites, shops, traffic, files. Each generator is seeded by the
 * world alone and answers the same observations every time, dated within the corpus's days (`firstDayMs` is the
 * first one's midnight). They are fed once, before the scans.
 */
export const AROUND: readonly ((world: World, firstDayMs: number) => Iterable<Observation>)[] = [
  pages,
  creatives,
  traffic,
  sites,
  storefronts,
  operators,
];
