import type { Tool } from './define-tool.ts';
import { exploreMarket, findBrands, getBrand, rankBrands } from './brands.ts';
import { fetchTool } from './fetch.ts';
import { listPages, search, searchAds, searchCreatives } from './search.ts';
import {
  getWorkspace,
  listBriefs,
  listChanges,
  requestReport,
  saveItem,
  trackBrand,
  untrackBrand,
  writeNote,
} from './workspace.ts';

export const TOOLS: readonly Tool[] = [
  search,
  fetchTool,
  findBrands,
  getBrand,
  searchAds,
  searchCreatives,
  listPages,
  rankBrands,
  exploreMarket,
  listChanges,
  listBriefs,
  getWorkspace,
  trackBrand,
  untrackBrand,
  saveItem,
  writeNote,
  requestReport,
];
