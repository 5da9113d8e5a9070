import type { Tool } from './define-tool.ts';
import { findBrands } from './corpus/find-brands.ts';
import { searchAds } from './corpus/search-ads.ts';

/** All tools, in the order in which clients list them. */
export const TOOLS: readonly Tool[] = [findBrands, searchAds];
