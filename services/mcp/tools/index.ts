import type { Tool } from './define-tool.ts';
import { exploreMarket, findBrands, getBrand, rankBrands } from './brands.ts';
import { fetchTool } from './fetch.ts';
import { listPages, search, searchAds, searchCreatives } from './search.ts';
import { getWorkspace, listBriefs, listChanges } from './workspace.ts';
import { requestReport, saveItem, trackBrand, untrackBrand, writeNote } from './writers.ts';

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
