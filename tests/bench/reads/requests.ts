import { AUDIENCE_SEGMENTS } from '#contracts/values/audience-segments.ts';
import type { Database } from '#platform/postgres/pool.ts';
import { WORKSPACE_ID } from './fill-workspace.ts';
import { COMMON_WORD_NUMBER, RARE_WORD, SELDOM_WORD } from './seeds.ts';
import { type Case, listOf, one } from './case.ts';
import { scaled } from '../runner/bench.ts';

const BRAND_NUMBERS = [1, 2, 3, 10, 100, 1_000, 20_000, 150_000].map((number) => scaled(number, 3));
const PAIRED_BRANDS = [1, 2, 40];

export async function readCases(pool: Database): Promise<readonly Case[]> {
  const texts = async (sql: string): Promise<readonly string[]> =>
    (await pool.query<{ text: string }>(`select text from (${sql}) t(text)`)).rows.map(({ text }) => text);
  const idsOf = (kind: string, numbers: readonly number[]): Promise<readonly string[]> =>
    texts(`select bench.id('${kind}', n)::text from unnest(array[${numbers.join()}]::bigint[]) n`);
  const named = (name: string, values: readonly string[]): readonly string[] =>
    values.map((value) => `${name}=${encodeURIComponent(value)}`);

  /** The public brands at these numbers, or next to them. */
  const brandsAt = (numbers: readonly number[]): Promise<readonly string[]> =>
    texts(`select brand_id::text from unnest(array[${numbers.join()}]) with ordinality as at (number, place)
      cross join lateral (select brand_id from bench.brand where n >= number and is_public order by n limit 1) b
      order by place`);
  const brands = await brandsAt(BRAND_NUMBERS);
  const [tops, mids, leaves] = [
    await idsOf('category', [1, 2, 9]),
    await idsOf('category', [26, 60]),
    await idsOf('category', [226, 500, 1_400]),
  ];
  const category = (name: string) => ({
    top: named(name, tops),
    mid: named(name, mids),
    leaf: named(name, leaves),
  });
  const [common = ''] = await texts(`select word from bench.word where n = ${COMMON_WORD_NUMBER}`);
  const middling = await texts('select word from bench.word where n in (200, 1500)');
  const word = (name: string) => ({
    common: named(name, [common]),
    middling: named(name, middling),
    seldom: named(name, [SELDOM_WORD]),
    rare: named(name, [RARE_WORD]),
  });
  const ofBrand = { big: named('brand_id', brands.slice(0, 3)), small: named('brand_id', brands.slice(5)) };
  const country = { common: named('country', ['US']), rare: named('country', ['JP']) };
  const nameParts = await texts(
    `select lower(split_part(name, $$ $$, 1)) from bench.brand where n in (77, ${scaled(4_077)})`,
  );
  const urlWords = await texts(
    `select split_part(split_part(page_url, $$-$$, 5), $$?$$, 1) from bench.landing_page
      where n in (5, ${scaled(91_234)}) order by n`,
  );
  const pageIds = await texts(
    `select l.page_id::text from bench.landing_page l join pages.page p on p.landing_page_id = l.page_id
      where p.is_public and l.n % ${scaled(4_001)} = 7 % ${scaled(4_001)} order by l.n limit 100`,
  );
  const creativeKeys = await texts(
    'select creative_key from creatives.file_count order by active_ads desc limit 20',
  );
  const creativeIds = await texts('select creative_id::text from creatives.carriage limit 20');
  const operators = await idsOf(
    'operator',
    [1, 2, 50, 9_000].map((number) => scaled(number)),
  );
  const adIds =
    await texts(`select ad_id from unnest(array[1, ${scaled(500_000)}]) with ordinality as at (number, place)
    cross join lateral (
      select ad_id from bench.ad a join bench.brand b on b.n = a.brand_n and b.is_public where a.n >= number order by a.n limit 1
    ) a order by place`);
  const hundredBrands = await texts('select brand_id::text from bench.brand order by n limit 100');
  const ws = `/v1/workspaces/${WORKSPACE_ID}`;
  const tracked = await texts(
    `select brand_id::text from tracking.tracked_brand where workspace_id = '${WORKSPACE_ID}' order by tracked_at desc limit 3`,
  );
  const ofEach = (read: string): Case =>
    one(
      `/v1/brands/{id}${read}`,
      brands.map((id) => `/v1/brands/${id}${read}`),
    );

  return [
    one('/v1/freshness', ['/v1/system/freshness']),
    ...listOf('/v1/brands', {
      sort: { new: ['sort=new_ads_7d'], name: ['sort=name'] },
      category: category('category_id'),
      country,
      letter: { '': ['letter=b', 'letter=y'] },
      q: {
        common: ['q=co'],
        part: named('q', ['brek', 'zan']),
        rare: named('q', nameParts),
        none: ['q=zzzz'],
      },
    }),
    ...listOf('/v1/brands/sitemap', { category: category('category_id') }),
    ...[
      '',
      '/velocity',
      '/breakdown',
      '/similar',
      '/trajectory',
      '/demographics',
      '/tech-stack',
      '/social-pages',
      '/leakage',
      '/copy-reuse',
      '/partnerships',
      '/creative-library',
      '/daily-activity',
      '/split-tests',
      '/store',
      '/operators',
    ].map(ofEach),
    one('/v1/brand-thumbs (100)', [`/v1/brand-thumbs?brand_ids=${hundredBrands.join()}`]),
    one(
      '/v1/brand-network brand',
      brands.map((id) => `/v1/brand-network?brand_id=${id}`),
    ),
    one(
      '/v1/brand-network top',
      tops.map((id) => `/v1/brand-network?category_id=${id}`),
    ),
    one(
      '/v1/brand-network mid, leaf',
      [...mids, ...leaves].map((id) => `/v1/brand-network?category_id=${id}`),
    ),
    ...listOf(`/v1/brands/${brands[0]}/ads`, {}, '/v1/brands/{id}/ads'),
    ...listOf('/v1/ads', {
      q: word('q'),
      format: { common: ['format=video'], rare: ['format=other'] },
      status: { common: ['status=active'], rare: ['status=missing'] },
      country: { common: ['country=US'], rare: ['country=JP'] },
      brand: ofBrand,
    }),
    one(
      '/v1/ads/{id}',
      adIds.map((id) => `/v1/ads/${id}`),
    ),
    ...listOf(`/v1/creatives?brand_id=${brands[0]}`, {}, '/v1/creatives'),
    one(
      '/v1/creatives/{id}',
      creativeIds.map((id) => `/v1/creatives/${id}`),
    ),
    one(
      '/v1/ads/{id}/creatives',
      adIds.map((id) => `/v1/ads/${id}/creatives`),
    ),
    ...listOf('/v1/creative-records', {
      brand: ofBrand,
      depth: { common: ['depth=described'], rare: ['depth=transcribed'] },
      kind: { '': ['media_kind=video', 'media_kind=image'] },
      hook: { common: ['hook=question'], rare: ['hook=none'] },
      tone: { '': ['tone=neutral', 'tone=humorous'] },
      said: word('said'),
      shown: {
        common: named('shown', [common]),
        seldom: named('shown', [SELDOM_WORD]),
        rare: named('shown', [RARE_WORD]),
      },
      duration: { long: ['min_duration_seconds=175'], short: ['max_duration_seconds=10'] },
      bytes: { large: ['min_bytes=75000000'], small: ['max_bytes=500000'] },
      width: { '': ['min_width=1900', 'max_width=600'] },
      ads: { many: ['min_active_ads=20'], few: ['max_active_ads=1'] },
    }),
    one(
      '/v1/creative-records/{key}',
      creativeKeys.map((key) => `/v1/creative-records/${key}`),
    ),
    one(
      '/v1/creative-records/{prefix}',
      creativeKeys.map((key) => `/v1/creative-records/${key.slice(0, 12)}`),
    ),
    one('/v1/creative-coverage', [
      '/v1/creative-coverage',
      ...brands.slice(0, 3).map((id) => `/v1/creative-coverage?brand_id=${id}`),
    ]),
    ...listOf('/v1/pages', {
      sort: { popular: ['sort=popular'] },
      category: category('category_id'),
      brand: {
        big: named('brand_id', await brandsAt(PAIRED_BRANDS)),
        small: named('brand_id', brands.slice(5)),
      },
      type: { common: ['page_type=product'], rare: ['page_type=checkout'] },
      url: {
        common: ['url=/products/'],
        seldom: ['url=-w12-'],
        word: named('url', [common]),
        rare: named('url', urlWords),
        none: ['url=zzqqzz'],
      },
    }),
    one(
      '/v1/pages/{id}',
      pageIds.slice(0, 20).map((id) => `/v1/pages/${id}`),
    ),
    one('/v1/page-details (100)', [`/v1/page-details?ids=${pageIds.join()}`]),
    ...listOf('/v1/operators', {}),
    one(
      '/v1/operators/{id}',
      operators.map((id) => `/v1/operators/${id}`),
    ),
    ...listOf('/v1/hubs', {}),
    ...listOf('/v1/categories', {
      parent: { '': named('parent_id', [...tops, ...mids]) },
      slug: { '': await texts(`select 'slug=' || slug from bench.category where n in (5, 500)`) },
    }),
    ...listOf('/v1/categories/sitemap', {}),
    one(
      '/v1/categories/{id}',
      [...tops, ...mids, ...leaves].map((id) => `/v1/categories/${id}`),
    ),
    one(
      '/v1/categories/{id}/stats',
      [...tops, ...mids, ...leaves].map((id) => `/v1/categories/${id}/stats`),
    ),
    ...listOf('/v1/rankings?country=US', { category: category('category_id') }, '/v1/rankings US'),
    ...listOf('/v1/rankings?country=JP', { category: category('category_id') }, '/v1/rankings JP'),
    ...listOf('/v1/rankings/risers', { category: category('category_id'), country }),
    ...listOf('/v1/rankings/new-advertisers', {
      days: { '': ['days=7', 'days=90'] },
      category: category('category_id'),
      country,
    }),
    ...listOf('/v1/tools', { category: { '': ['category=chat'] } }),
    one(
      '/v1/tools/{id}',
      ['tool-1', 'tool-60', 'tool-2900'].map((slug) => `/v1/tools/${slug}`),
    ),
    ...listOf('/v1/tools/tool-1/brands', { country }, '/v1/tools/{id}/brands common'),
    ...listOf('/v1/tools/tool-300/brands', { country }, '/v1/tools/{id}/brands seldom'),
    one('/v1/split-test-census', ['/v1/split-test-census']),
    ...Object.keys(AUDIENCE_SEGMENTS).flatMap((segment) => listOf(`/v1/audience/${segment}`, {})),
    ...listOf(`${ws}/tracked-brands`, {}, '…/tracked-brands'),
    one('…/tracked-brands/freshness', [`${ws}/tracked-brands/freshness`]),
    ...listOf(`${ws}/api-keys`, {}, '…/api-keys'),
    ...listOf(
      `${ws}/radar`,
      {
        days: { '': ['days=1', 'days=30'] },
        types: { '': ['types=ad_stopped', 'types=destination_changed'] },
        brand: { '': named('brand_id', tracked) },
      },
      '…/radar',
    ),
    ...listOf(
      `${ws}/radar/signals`,
      {
        days: { '': ['days=1', 'days=90', 'days=365'] },
        kinds: {
          common: ['kinds=ads_started'],
          rare: ['kinds=sale', 'kinds=ramp,drop'],
          none: ['kinds=new_linked_page'],
        },
      },
      '…/radar/signals',
    ),
    ...listOf(`${ws}/alerts`, {}, '…/alerts'),
    ...listOf(
      `${ws}/alert-deliveries`,
      { alert: { '': named('alert_id', await idsOf('alert', [1, 2])) } },
      '…/alert-deliveries',
    ),
    ...listOf(`${ws}/briefs`, {}, '…/briefs'),
    ...listOf(`${ws}/reports`, {}, '…/reports'),
    ...listOf(`${ws}/collections`, {}, '…/collections'),
    ...listOf(`${ws}/saved`, { type: { '': ['item_type=ad', 'item_type=brand'] } }, '…/saved'),
    ...listOf(`${ws}/notes`, {}, '…/notes'),
  ];
}
