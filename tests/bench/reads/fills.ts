import type { Fill } from './fill.ts';
import { fillCreatives } from './fill-creatives.ts';
import { FILLS_OF_LIBRARY } from './fill-library.ts';
import { FILLS_OF_PAGES } from './fill-pages.ts';
import { FILLS_OF_SITES } from './fill-sites.ts';
import { FILLS_OF_WORKSPACE } from './fill-workspace.ts';

/** The slowest fills come first, so that both workers finish at about the same time. */
export const FILLS: readonly Fill[] = [
  ...FILLS_OF_LIBRARY.slice(0, 1),
  fillCreatives,
  ...FILLS_OF_PAGES,
  ...FILLS_OF_SITES,
  ...FILLS_OF_LIBRARY.slice(1),
  ...FILLS_OF_WORKSPACE,
];
