import { isoTimeSql } from '#contracts/values/time.ts';
import { arrayText, joinObjects, objectText } from '#contracts/values/json-text.ts';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { TOOL_MEMBERS_SQL, quoted } from '../sql/json.ts';
import { categoryNameSql } from '../shared-tables/category-naming.ts';
import { readScannedAt } from '../shared-tables/applied-scan.ts';

const TOOLS = `
  select ${isoTimeSql('b.scanned_at')} as scanned_at,
    (select string_agg('{' || ${TOOL_MEMBERS_SQL} || ',"read":' || (s.read_at is not null)
        || ',"read_at":' || ${quoted('s.read_at')}
        || ',"tests":' || case when s.read_at is null then 'null' else (
          select count(*)::text from split_tests.test e where e.brand_id = s.brand_id and e.tool = s.slug
        ) end || '}', ',' order by lower(t.name) collate "C", t.slug collate "C")
      from split_tests.site_tool s join split_tests.tool t using (slug)
      where s.brand_id = b.brand_id and s.present and t.name is not null) as tools,
    exists (select from split_tests.site_tool s where s.brand_id = b.brand_id and s.read_at is not null) as is_read
  from split_tests.brand b where b.brand_id = $1 and b.scanned_at is not null`;

const TESTS = `
  select e.id, '{' || ${TOOL_MEMBERS_SQL} || '}' as tool, e.name, e.type, e.state, e.state_basis, e.arms, e.pages,
    e.first_seen_at, e.changed_at, e.missing_since
  from split_tests.test e join split_tests.tool t on t.slug = e.tool
  where e.brand_id = $1
  order by (e.state = 'running') desc, e.first_seen_at desc, e.id`;

// Read only for tests that name pages: a brand may have thousands of landing pages.
const LIVE_PAGES = `
  select p.landing_page_id, p.page_url, b.active_ads
  from pages.page_brand b join pages.page p using (landing_page_id)
  where b.brand_id = $1 and b.active_ads > 0
    and exists (select from split_tests.test e where e.brand_id = $1 and e.pages is not null)`;

// An ad with several landing pages counts once for those that a test covers together.
const LEADS_OF_CARDS = `
  select array(select distinct p from unnest(a.card_landing_page_ids || a.landing_page_id) p where p is not null)::text[] as page_ids
  from pages.ad a
  where a.brand_id = $1 and a.active and a.card_landing_page_ids <> '{}'
    and exists (select from split_tests.test e where e.brand_id = $1 and e.pages is not null)`;

const PROFILE = `
  select (select row_to_json(n)::text from (
      select c.category_id as id, c.slug, ${categoryNameSql('c')} as name) n) as category,
    c.read as brands_read,
    coalesce((
      select string_agg('{"type":"' || type || '","brands":' || brands || ',"tests":' || tests || ',"running_tests":' || running
        || '}', ',' order by tests desc, type)
      from split_tests.category_type t where t.category_id = b.category_id and t.brands > 0
    ), '') as types
  from split_tests.brand b join split_tests.category c using (category_id) where b.brand_id = $1`;

type TestRow = {
  readonly id: string;
  readonly tool: string;
  readonly name: string | null;
  readonly type: string;
  readonly state: string;
  readonly state_basis: string;
  readonly arms: readonly object[] | null;
  readonly pages:
    | readonly {
        readonly url: string;
        readonly match: string;
        readonly page_id: string | null;
        readonly begins: string | null;
      }[]
    | null;
  readonly first_seen_at: string;
  readonly changed_at: string | null;
  readonly missing_since: string | null;
};
type LivePage = { readonly landing_page_id: string; readonly page_url: string; readonly active_ads: string };
type Leads = {
  readonly pages: readonly LivePage[];
  readonly ofCards: readonly { readonly page_ids: readonly string[] }[];
};

const isBelow = (address: string, begins: string): boolean =>
  address === begins || address.startsWith(`${begins}/`) || address.startsWith(`${begins}?`);

/** A prefix match also counts ads on pages below it. */
const adsOn = (page: NonNullable<TestRow['pages']>[number], { pages, ofCards }: Leads): number => {
  const found = pages.filter(
    ({ landing_page_id, page_url }) =>
      landing_page_id === page.page_id || (page.begins !== null && isBelow(page_url, page.begins)),
  );
  const ids = new Set(found.map(({ landing_page_id }) => landing_page_id));
  const counted = found.reduce((sum, { active_ads }) => sum + Number(active_ads), 0);
  const again = ofCards.map(({ page_ids }) => page_ids.filter((id) => ids.has(id)).length - 1);
  return counted - again.reduce((sum, times) => sum + Math.max(0, times), 0);
};

const testText = ({ tool, pages, ...test }: TestRow, leads: Leads): string => {
  const shown = {
    ...test,
    pages:
      pages?.map((page) => ({ url: page.url, match: page.match, active_ads: adsOn(page, leads) })) ?? null,
  };
  return joinObjects(objectText({ tool }), JSON.stringify(shown));
};

export type BrandSplitTests = { readonly data: string; readonly asOf: string | null };

/**
 * `asOf` is `null` before the first scan; then `tools` and `tests` are `null`, never empty. `tests` is also `null` if
 * no tool could be read.
 */
export const readBrandSplitTests = async (db: ReadDatabase, brandId: string): Promise<BrandSplitTests> => {
  const values = [brandId];
  const [pagesAsOf, [site], tests, pages, ofCards, [profile]] = await Promise.all([
    readScannedAt(db, 'pages', brandId),
    db.query<{ scanned_at: string; tools: string | null; is_read: boolean }>({ sql: TOOLS, values }),
    db.query<TestRow>({ sql: TESTS, values }),
    db.query<LivePage>({ sql: LIVE_PAGES, values }),
    db.query<{ page_ids: string[] }>({ sql: LEADS_OF_CARDS, values }),
    db.query<{ category: string; brands_read: string; types: string }>({ sql: PROFILE, values }),
  ]);
  const profileText = profile
    ? objectText({
        category: profile.category,
        brands_read: profile.brands_read,
        types: `[${profile.types}]`,
      })
    : 'null';
  if (site === undefined) {
    const data = objectText({
      status: '"not_collected"',
      scanned_at: 'null',
      tools: 'null',
      tests: 'null',
      category_profile: profileText,
    });
    return { data, asOf: null };
  }
  const testsText = site.is_read
    ? arrayText(tests.map((test) => testText(test, { pages, ofCards })))
    : 'null';
  const data = objectText({
    status: '"collected"',
    scanned_at: `"${site.scanned_at}"`,
    tools: `[${site.tools ?? ''}]`,
    tests: testsText,
    category_profile: profileText,
  });
  // The ads come from another read model, so the older time holds.
  const isOlder = pagesAsOf !== null && pagesAsOf < site.scanned_at;
  const countsAds = site.is_read && tests.some((test) => test.pages !== null);
  return { data, asOf: countsAds && isOlder ? pagesAsOf : site.scanned_at };
};
