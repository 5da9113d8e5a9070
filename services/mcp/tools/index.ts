import type { Tool } from './define-tool.ts';
import { exploreMarket } from './corpus/explore-market.ts';
import { fetchTool } from './corpus/fetch.ts';
import { findBrands } from './corpus/find-brands.ts';
import { getBrand } from './corpus/get-brand.ts';
import { listPages } from './corpus/list-pages.ts';
import { rankBrands } from './corpus/rank-brands.ts';
import { searchAds } from './corpus/search-ads.ts';
import { searchCreatives } from './corpus/search-creatives.ts';
import { search } from './corpus/search.ts';
import { getWorkspace } from './workspace/get-workspace.ts';
import { listBriefs } from './workspace/list-briefs.ts';
import { listChanges } from './workspace/list-changes.ts';
import { requestReport } from './writers/request-report.ts';
import { saveItem } from './writers/save-item.ts';
import { trackBrand } from './writers/track-brand.ts';
import { untrackBrand } from './writers/untrack-brand.ts';
import { writeNote } from './writers/write-note.ts';

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
