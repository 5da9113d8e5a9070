import { utcDateOfMs, DAY_MS } from '#contracts/values/time.ts';
import { BRAND_IDS } from '../../operations/fixtures/demo-walk.ts';

export const [BRAND = ''] = BRAND_IDS;

/** Before the first event. */
const SINCE = '2026-01-01T00:00:00Z';

/** Calls of list tools, with the request of the API that has the same data. */
export const LISTS: readonly [string, object, string][] = [
  ['find_brands', { sort: 'name', limit: 25 }, '/v1/brands?sort=name&limit=25'],
  ['find_brands', { country: 'US', sort: 'new_ads_7d' }, '/v1/brands?country=US&sort=new_ads_7d&limit=10'],
  ['find_brands', { letter: 'i', limit: 5 }, '/v1/brands?letter=i&limit=5&sort=active_ads'],
  ['search_ads', { brand: BRAND, status: 'active' }, `/v1/ads?brand_id=${BRAND}&status=active&limit=10`],
  ['search_ads', { brand: BRAND, limit: 25 }, `/v1/brands/${BRAND}/ads?limit=25`],
  ['search_ads', { limit: 25 }, '/v1/ads?limit=25'],
  ['search_ads', { q: 'instructions', country: 'US' }, '/v1/ads?q=instructions&country=US&limit=10'],
  ['search_ads', { format: 'video' }, '/v1/ads?format=video&limit=10'],
  ['search_creatives', { limit: 25, images: 2 }, '/v1/creative-records?limit=25'],
  [
    'search_creatives',
    { media_kind: 'video', said: 'instructions', min_active_ads: 1 },
    '/v1/creative-records?media_kind=video&said=instructions&min_active_ads=1&limit=10',
  ],
  ['list_pages', { sort: 'popular', limit: 25 }, '/v1/pages?sort=popular&limit=25'],
  ['list_pages', { brand: BRAND, url: 'https' }, `/v1/pages?brand_id=${BRAND}&url=https&limit=10`],
  ['rank_brands', { board: 'traffic', country: 'US', limit: 25 }, '/v1/rankings?country=US&limit=25'],
  ['rank_brands', { board: 'risers' }, '/v1/rankings/risers?limit=10'],
  ['rank_brands', { board: 'new_advertisers', days: 7 }, '/v1/rankings/new-advertisers?days=7&limit=10'],
  ['rank_brands', { board: 'audience', segment: 'majority-female' }, '/v1/audience/majority-female?limit=10'],
  ['explore_market', { kind: 'categories', limit: 25 }, '/v1/categories?limit=25'],
  ['explore_market', { kind: 'tools', limit: 25 }, '/v1/tools?limit=25'],
  ['explore_market', { kind: 'operators' }, '/v1/operators?limit=10'],
  ['explore_market', { kind: 'hubs', limit: 25 }, '/v1/hubs?limit=25'],
  ['explore_market', { kind: 'split_tests' }, '/v1/split-test-census'],
  ['list_changes', { days: 90, limit: 25 }, '/v1/{ws}/radar/signals?days=90&limit=25'],
  ['list_changes', { view: 'items', days: 90, limit: 25 }, '/v1/{ws}/radar?days=90&limit=25'],
  [
    'list_changes',
    { view: 'items', days: 90, brand: BRAND, kinds: ['ad_started'] },
    `/v1/{ws}/radar?days=90&brand_id=${BRAND}&types=ad_started&limit=10`,
  ],
  [
    'list_changes',
    { view: 'differences', brand: BRAND, since: SINCE, limit: 25 },
    `/v1/brands/${BRAND}/changes?since=${SINCE}&limit=25`,
  ],
  ['list_changes', { view: 'differences', since: SINCE }, `/v1/{ws}/changes?since=${SINCE}&limit=10`],
  ['list_briefs', {}, '/v1/{ws}/briefs?limit=10'],
];

export const WORKSPACE_LISTS: readonly [string, string][] = [
  ['tracked_brands', '/v1/{ws}/tracked-brands?limit=10'],
  ['freshness', '/v1/{ws}/tracked-brands/freshness'],
  ['alerts', '/v1/{ws}/alerts'],
  ['deliveries', '/v1/{ws}/alert-deliveries?limit=10'],
  ['reports', '/v1/{ws}/reports?limit=10'],
  ['collections', '/v1/{ws}/collections'],
  ['saved', '/v1/{ws}/saved?limit=10'],
  ['notes', '/v1/{ws}/notes?limit=10'],
];

const FROM = utcDateOfMs(Date.now() - 84 * DAY_MS);
const ofBrand = (path: string): string => `/v1/brands/${BRAND}${path}`;

export const SECTIONS: readonly [string, string][] = [
  ['profile', ofBrand('')],
  ['velocity', ofBrand('/velocity?weeks=12')],
  ['daily_activity', ofBrand(`/daily-activity?from=${FROM}`)],
  ['formats', ofBrand('/breakdown')],
  ['social_pages', ofBrand('/social-pages')],
  ['leakage', ofBrand('/leakage')],
  ['copy_reuse', ofBrand('/copy-reuse')],
  ['partnerships', ofBrand('/partnerships')],
  ['creative_library', ofBrand('/creative-library?sample=6')],
  ['split_tests', ofBrand('/split-tests')],
  ['store', ofBrand('/store?limit=10')],
  ['tech_stack', ofBrand('/tech-stack')],
  ['similar', ofBrand('/similar?limit=10')],
  ['trajectory', ofBrand('/trajectory')],
  ['demographics', ofBrand('/demographics')],
  ['operators', ofBrand('/operators')],
  ['network', `/v1/brand-network?brand_id=${BRAND}`],
  ['coverage', ofBrand('/coverage')],
];
