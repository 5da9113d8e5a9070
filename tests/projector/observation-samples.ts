/** Scans have also the messages that must come before and after the observation. */
const observed_at = '2026-05-02T10:00:00.000Z';
const scan_id = '00000000-0000-4000-8000-000000000000';
const creative_key = 'ab'.repeat(32);
const domain = 'shop.example';
const page_id = '100000001';
const card = {
  body: 'Soft',
  title: 'Socks',
  link_description: 'Warm',
  cta_text: 'Shop now',
  link_url: 'https://shop.example/card',
};
const scanned = { scan_id, brand_domain: domain, scanned_at: observed_at };
const shopScan = { scan_id, domain, scanned_at: observed_at };
const libraryEnd = {
  type: 'ad_library.scan_end',
  ...scanned,
  chunks: 1,
  coverage: {
    pages: [{ page_id, page_name: 'Shop' }],
    countries: ['US'],
    complete: true,
    collector: 'tests',
  },
};
const libraryChunk = {
  type: 'ad_library.scan',
  ...scanned,
  chunk: 0,
  ads: [
    {
      ad_id: '7100000000000001',
      page_id,
      page_name: 'Shop',
      is_active: true,
      started_on: '2026-05-01',
      stopped_on: '2026-06-01',
      body: 'Soft socks',
      title: 'Socks',
      link_description: 'Warm',
      caption: 'shop.example',
      cta_type: 'SHOP_NOW',
      cta_text: 'Shop now',
      link_url: 'https://shop.example/socks',
      format: 'carousel',
      platforms: ['facebook'],
      languages: ['en'],
      media: [{ kind: 'image', url: 'https://cdn.example/a.jpg', poster_url: 'https://cdn.example/b.jpg' }],
      cards: [card],
      versions: [card],
      branded_content: { page_id: '100000002', page_name: 'Partner' },
    },
  ],
};
const shopEnd = {
  type: 'storefront.scan_end',
  ...shopScan,
  pages: 1,
  complete: true,
  currency: 'USD',
  collector: 'tests',
};
const shopPage = {
  type: 'storefront.scan',
  ...shopScan,
  page: 0,
  products: [
    {
      id: '1001',
      handle: 'socks',
      title: 'Socks',
      product_type: 'Socks',
      vendor: 'Shop',
      published_at: '2026-01-01T00:00:00.000Z',
      image_url: 'https://cdn.example/p.jpg',
      variants: [
        { id: '2001', title: 'Red', sku: 'R', price: '10.00', compare_at_price: '12.00', available: true },
      ],
    },
  ],
};

export type Sample = { readonly said: object; readonly before?: object; readonly after?: object };

export const SAMPLES: readonly Sample[] = [
  {
    said: {
      type: 'brand.profile',
      domain,
      observed_at,
      name: 'Shop',
      description: 'Socks',
      url: 'https://shop.example/',
      logo_url: 'https://shop.example/logo.png',
      country: 'US',
      category_path: ['Apparel', 'Socks', 'Warm socks'],
      is_public: true,
      indexable: true,
    },
  },
  {
    said: {
      type: 'social_page.link',
      brand_domain: domain,
      page_id,
      page_name: 'Shop',
      observed_at,
      role: 'CREATOR',
      confidence: 0.5,
      linked: true,
      quarantined: false,
    },
  },
  {
    said: {
      type: 'social_page.profile',
      page_id,
      observed_at,
      source: 'tests',
      page_name: 'Shop',
      username: 'shop',
      category: 'Shop',
      verified: true,
      followers: 10,
      likes: 10,
    },
  },
  {
    said: {
      type: 'operator.record',
      observed_at,
      name: 'Shop Ltd',
      country: 'US',
      basis: 'site_imprint',
      domains: [domain, 'other.example'],
      page_ids: [page_id],
    },
  },
  {
    said: {
      type: 'category.define',
      observed_at,
      path: ['Apparel', 'Socks'],
      level: 2,
      taxonomy: 'tests',
      taxonomy_id: '12',
      description: 'Socks',
    },
  },
  {
    said: {
      type: 'traffic.estimate',
      domain,
      observed_at,
      period: '2026-04',
      provider: 'tests',
      monthly_visits: 10,
      global_rank: 10,
      category_rank: 10,
      provider_category: 'Shops',
      countries: [{ country: 'US', share: 0.5 }],
      demographics: {
        female: 0.5,
        male: 0.5,
        age_18_24: 0.1,
        age_25_34: 0.1,
        age_35_44: 0.1,
        age_45_54: 0.1,
        age_55_64: 0.1,
        age_65_plus: 0.1,
      },
      similar_sites: [
        { domain: 'other.example', affinity: 0.5, provider_category: 'Shops' },
        { domain: 'third.example', affinity: 1, provider_category: 'Shops' },
      ],
    },
  },
  {
    said: {
      type: 'landing_page.scrape',
      page_url: 'https://shop.example/socks',
      observed_at,
      http_status: 200,
      canonical_url: 'https://shop.example/socks',
      title: 'Socks',
      description: 'Soft',
      language: 'en-US',
      headings: ['Socks'],
      cta_texts: ['Buy'],
    },
  },
  {
    said: {
      type: 'landing_page.classify',
      page_url: 'https://shop.example/socks',
      observed_at,
      page_type: 'product',
      confidence: 0.5,
    },
  },
  {
    said: {
      type: 'creative.file',
      creative_key,
      observed_at,
      ad_ids: ['7100000000000001'],
      media_kind: 'video',
      content_type: 'video/mp4',
      bytes: 10,
      width: 10,
      height: 10,
      duration_seconds: 10,
      frame_times_seconds: [0, 1],
      media_url: 'https://media.example/a.mp4',
      object_key: 'a',
      poster_url: 'https://media.example/a.jpg',
    },
  },
  {
    said: {
      type: 'creative.analysis',
      creative_key,
      observed_at,
      depth: 'described',
      transcript: 'Soft socks',
      language: 'en-US',
      corrections: [{ heard: 'rocks', meant: 'socks' }],
      shown_texts: ['Sale'],
      read_frame_times_seconds: [0, 1],
      fields: {
        hook: null,
        style: null,
        presenter: null,
        setting: null,
        tone: null,
        offer: null,
        audio: null,
      },
    },
  },
  {
    said: {
      type: 'site.scan',
      domain,
      observed_at,
      collector: 'tests',
      complete: true,
      tools: [
        {
          slug: 'splitter',
          name: 'Splitter',
          category: 'A/B testing',
          website_url: 'https://split.example/',
        },
      ],
      split_test_tools: [{ slug: 'splitter', readable: true }],
      split_tests: [
        {
          tool: 'splitter',
          test_id: 't1',
          name: 'Test',
          type: 'content',
          state: 'running',
          state_basis: 'dates',
          arms: [{ name: 'A', allocation: 0.5 }],
          pages: [{ url: 'https://shop.example/socks', match: 'prefix' }],
        },
      ],
    },
  },
  { said: shopPage, after: shopEnd },
  { said: libraryChunk, after: libraryEnd },
  { said: libraryEnd, before: libraryChunk },
];
