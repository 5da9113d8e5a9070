import { BRAND_IDS } from '../operations/fixtures/demo-walk.ts';

/** The busiest brand of the demo corpus. */
export const [BRAND = ''] = BRAND_IDS;

/** Calls of list tools, with the request of the API that has the same data. */
export const LISTS: readonly [string, object, string][] = [
  ['find_brands', { sort: 'name', limit: 25 }, '/v1/brands?sort=name&limit=25'],
  ['search_ads', { brand: BRAND, status: 'active' }, `/v1/ads?brand_id=${BRAND}&status=active&limit=10`],
  ['search_ads', { brand: BRAND, limit: 25 }, `/v1/brands/${BRAND}/ads?limit=25`],
  ['search_ads', { limit: 25 }, '/v1/ads?limit=25'],
  ['search_creatives', { limit: 25, images: 2 }, '/v1/creative-records?limit=25'],
  ['list_pages', { sort: 'popular', limit: 25 }, '/v1/pages?sort=popular&limit=25'],
  ['rank_brands', { board: 'traffic', country: 'US', limit: 25 }, '/v1/rankings?country=US&limit=25'],
  ['rank_brands', { board: 'risers' }, '/v1/rankings/risers?limit=10'],
  ['rank_brands', { board: 'new_advertisers', days: 7 }, '/v1/rankings/new-advertisers?days=7&limit=10'],
  ['explore_market', { kind: 'categories', limit: 25 }, '/v1/categories?limit=25'],
  ['explore_market', { kind: 'tools', limit: 25 }, '/v1/tools?limit=25'],
  ['explore_market', { kind: 'operators' }, '/v1/operators?limit=10'],
  ['explore_market', { kind: 'hubs', limit: 25 }, '/v1/hubs?limit=25'],
  ['explore_market', { kind: 'split_tests' }, '/v1/split-test-census'],
  ['list_changes', { days: 90, limit: 25 }, '/v1/{ws}/radar/signals?days=90&limit=25'],
  ['list_changes', { view: 'items', days: 90, limit: 25 }, '/v1/{ws}/radar?days=90&limit=25'],
  ['list_briefs', {}, '/v1/{ws}/briefs?limit=10'],
  ['get_workspace', { include: ['tracked_brands'] }, '/v1/{ws}/tracked-brands?limit=10'],
  ['get_workspace', { include: ['freshness'] }, '/v1/{ws}/tracked-brands/freshness'],
];

/** Sections of `get_brand`, with the rest of the path of their endpoint. */
export const SECTIONS: readonly [string, string][] = [
  ['profile', ''],
  ['velocity', '/velocity?weeks=12'],
  ['formats', '/breakdown'],
  ['social_pages', '/social-pages'],
  ['leakage', '/leakage'],
  ['copy_reuse', '/copy-reuse'],
  ['partnerships', '/partnerships'],
  ['creative_library', '/creative-library?sample=6'],
  ['split_tests', '/split-tests'],
  ['store', '/store?limit=10'],
  ['tech_stack', '/tech-stack'],
  ['similar', '/similar?limit=10'],
  ['trajectory', '/trajectory'],
  ['demographics', '/demographics'],
  ['operators', '/operators'],
];
