import { describe, expect, test } from 'vitest';
import type { SiteScan } from '#contracts/observations/site-scan.ts';
import { Observation } from '#contracts/observations/index.ts';
import {
  SITE_SPLIT_TESTS_MAX,
  SITE_TOOLS_MAX,
  SPLIT_TEST_PAGES_MAX,
} from '#contracts/observations/site-scan.ts';
import { SIMILAR_SITES_MAX } from '#contracts/observations/traffic-estimate.ts';
import { siteScan, siteSplitTest, siteTool } from '#tests/dsl/site-events.ts';

const AT = '2026-05-02T10:00:00Z';
const LONG = 'a long text '.repeat(2_000);
const LONG_URL = `https://shop.example/${'a'.repeat(10_000)}`;

const PROFILE = {
  type: 'brand.profile',
  domain: 'shop.example',
  observed_at: AT,
  name: LONG,
  description: LONG,
  url: LONG_URL,
  logo_url: LONG_URL,
  country: null,
  category_path: [LONG],
  is_public: null,
  indexable: null,
};
const OPERATOR = {
  type: 'operator.record',
  observed_at: AT,
  name: LONG,
  country: null,
  basis: 'filing',
  domains: Array.from({ length: 1_001 }, (_, index) => `shop-${index}.example`),
  page_ids: Array.from({ length: 1_001 }, (_, index) => String(10_000_000 + index)),
};
const ESTIMATE = {
  type: 'traffic.estimate',
  domain: 'shop.example',
  observed_at: AT,
  period: '2026-04',
  provider: LONG,
  monthly_visits: null,
  global_rank: null,
  category_rank: null,
  provider_category: LONG,
  countries: null,
  demographics: null,
  similar_sites: Array.from({ length: SIMILAR_SITES_MAX + 1 }, (_, index) => ({
    domain: `site-${index}.example`,
    affinity: index / 1_000,
    provider_category: LONG,
  })),
};
const PRODUCT = {
  id: '1',
  handle: LONG,
  title: LONG,
  product_type: LONG,
  vendor: LONG,
  published_at: null,
  image_url: LONG_URL,
  variants: [{ id: '2', title: LONG, sku: LONG, price: null, compare_at_price: null, available: null }],
};
const SCAN_ID = '4f1c5b9e-8f44-5b7c-9d7e-0a4f5f2f9c11';
const PAGE = { type: 'storefront.scan', scan_id: SCAN_ID, domain: 'shop.example', scanned_at: AT, page: 0 };
const SITE = {
  ...siteScan('shop.example', AT, {
    collector: LONG,
    tools: [{ ...siteTool('one'), name: LONG, category: LONG, website_url: LONG_URL }],
    split_test_tools: [{ slug: 'one', readable: true }],
    split_tests: [
      siteSplitTest('one', LONG, {
        name: LONG,
        arms: Array.from({ length: 30 }, () => ({ name: LONG, allocation: null })),
        pages: [
          LONG_URL,
          ...Array.from({ length: SPLIT_TEST_PAGES_MAX + 1 }, (_, n) => `https://a.example/${n}`),
        ].map((url) => ({ url, match: 'exact' as const })),
      }),
    ],
  }),
};

const OBSERVATIONS: readonly object[] = [
  PROFILE,
  OPERATOR,
  ESTIMATE,
  SITE,
  { ...PAGE, products: [PRODUCT, { ...PRODUCT, id: '3', handle: 'boot' }] },
  {
    type: 'storefront.scan_end',
    scan_id: SCAN_ID,
    domain: 'shop.example',
    scanned_at: AT,
    pages: 1,
    complete: true,
    currency: null,
    collector: LONG,
  },
  {
    type: 'ad_library.scan_end',
    scan_id: SCAN_ID,
    brand_domain: 'shop.example',
    scanned_at: AT,
    chunks: 0,
    coverage: { pages: [], countries: ['US'], complete: true, collector: LONG },
  },
  {
    type: 'category.define',
    observed_at: AT,
    path: [LONG, 'Boots'],
    level: null,
    taxonomy: 'tests',
    taxonomy_id: LONG,
    description: LONG,
  },
  {
    type: 'social_page.link',
    brand_domain: 'shop.example',
    page_id: '10000',
    page_name: LONG,
    observed_at: AT,
    role: 'OFFICIAL',
    confidence: 1,
    linked: true,
  },
  {
    type: 'social_page.profile',
    page_id: '10000',
    observed_at: AT,
    source: LONG,
    page_name: LONG,
    username: LONG,
    category: LONG,
    verified: null,
    followers: null,
    likes: null,
  },
  {
    type: 'landing_page.scrape',
    page_url: `https://shop.example/boots?utm_content=${'a'.repeat(5_000)}`,
    observed_at: AT,
    http_status: 200,
    canonical_url: LONG_URL,
    title: LONG,
    description: LONG,
    language: null,
    headings: [LONG],
    cta_texts: [LONG],
  },
  {
    type: 'creative.file',
    creative_key: '9'.repeat(64),
    observed_at: AT,
    ad_ids: ['10000'],
    media_kind: 'video',
    content_type: null,
    bytes: null,
    width: null,
    height: null,
    duration_seconds: null,
    frame_times_seconds: Array.from({ length: 501 }, (_, n) => n),
    media_url: LONG_URL,
    object_key: LONG,
    poster_url: LONG_URL,
  },
];

describe('an observation over its limits', () => {
  test.each(OBSERVATIONS.map((one) => [(one as { type: string }).type, one] as const))(
    'is accepted within them, and parsing it again changes nothing: %s',
    (_type, observation) => {
      const parsed = Observation.parse(observation);
      expect(JSON.stringify(parsed)).not.toContain(LONG.trim());
      expect(JSON.stringify(parsed)).not.toContain(LONG_URL);
      expect(Observation.parse(parsed)).toEqual(parsed);
    },
  );

  test('keeps long names apart that begin alike', () => {
    const named = (end: string) => Observation.parse({ ...OPERATOR, name: `${LONG}${end}` });
    const [one, other] = [named('one'), named('other')] as unknown as { name: string }[];
    expect(one?.name).toHaveLength(200);
    expect(one?.name).toMatch(/^a long text .*…[0-9a-f]{12}$/);
    expect(other?.name).not.toBe(one?.name);
    expect(named('one')).toEqual(one);
  });

  test('keeps long slugs of tools apart that begin alike, in all three lists of a scan', () => {
    const slug = (end: string) => `${'tool-'.repeat(30)}${end}`;
    const parsed = Observation.parse({
      ...siteScan('shop.example', AT, { tools: [siteTool(slug('one')), siteTool(slug('two'))] }),
      split_test_tools: [{ slug: slug('one'), readable: true }],
      split_tests: [siteSplitTest(slug('one'), '1')],
    }) as SiteScan;
    const [one, two] = parsed.tools.map((tool) => tool.slug);
    expect(one).toMatch(/^[a-z-]{87}-[0-9a-f]{12}$/);
    expect(two).not.toBe(one);
    expect(parsed.split_test_tools).toMatchObject([{ slug: one }]);
    expect(parsed.split_tests).toMatchObject([{ tool: one }]);
    expect(Observation.parse(parsed)).toEqual(parsed);
  });

  test('is a visit to a page whose URL is long only by its tracking parameters', () => {
    const visit = (page_url: string) =>
      Observation.safeParse({
        type: 'landing_page.classify',
        page_url,
        observed_at: AT,
        page_type: 'home',
        confidence: 1,
      });
    const tracking = 'a'.repeat(5_000);
    expect(visit(`https://shop.example/boots?utm_content=${tracking}`).success).toBe(true);
    expect(visit(`https://shop.example/${tracking}`).error?.issues[0]?.message).toContain(
      'at most 2048 characters',
    );
  });

  test('has no key of a stored file when the key is too long', () => {
    const file = OBSERVATIONS.find((one) => 'type' in one && one.type === 'creative.file');
    expect(Observation.parse(file)).toMatchObject({ object_key: null, media_url: null });
  });

  test('keeps the most similar sites', () => {
    const { similar_sites: sites } = Observation.parse(ESTIMATE) as { similar_sites?: { domain: string }[] };
    expect(sites).toHaveLength(SIMILAR_SITES_MAX);
    expect(sites?.[0]).toMatchObject({ domain: 'site-1.example' });
  });

  test('is an incomplete scan of a site when tools or tests were left out', () => {
    const tools = Array.from({ length: SITE_TOOLS_MAX + 1 }, (_, index) => siteTool(`tool-${index}`));
    const readTools = [tools[0], tools.at(-1)].map((tool) => ({ slug: tool?.slug ?? '', readable: true }));
    const tests = Array.from({ length: SITE_SPLIT_TESTS_MAX + 1 }, (_, index) =>
      siteSplitTest(index === 1 ? `tool-${SITE_TOOLS_MAX}` : 'tool-0', String(index)),
    );
    const full = siteScan('shop.example', AT, { tools, split_test_tools: readTools, split_tests: tests });
    expect(Observation.parse(full)).toMatchObject({
      complete: false,
      tools: tools.slice(0, SITE_TOOLS_MAX),
      split_test_tools: [{ slug: 'tool-0' }],
      split_tests: tests.filter(({ tool }) => tool === 'tool-0').slice(0, SITE_SPLIT_TESTS_MAX),
    });
    expect(Observation.parse(SITE)).toMatchObject({ complete: true });
  });
});
