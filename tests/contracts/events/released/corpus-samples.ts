import { adLibraryStream } from '#contracts/events/corpus/ad-library.ts';
import type { AdObservationCorrected, AdRecord } from '#contracts/events/corpus/ad-library-corrections.ts';
import { Observation } from '#contracts/observations/index.ts';
import { createDecision, type OneStreamObservation } from '#services/ingest/intake/decider-registry.ts';
import { brandIdOf, derivedId } from '#domain/ids.ts';
import { ad, BRAND, library } from '#tests/dsl/scans.ts';
import {
  shopEvents,
  shopProduct,
  shopScan,
  siteEvents,
  siteScan,
  siteSplitTest,
  siteTool,
} from '#tests/dsl/site-events.ts';
import { record, type StreamEvent } from './recording.ts';

/** Invented observations of one shop, decided as in ingest. */

const DOMAIN = 'shop.example';
const PATH = ['Apparel', 'Shoes'];
const PAGE_URL = `https://www.${DOMAIN}/products/boot?variant=2`;
const CREATIVE_KEY = 'ab'.repeat(32);
const at = (day: number): string => `2026-05-${String(day).padStart(2, '0')}T08:00:00.000Z`;

const observed = (...observations: readonly OneStreamObservation[]): readonly StreamEvent[] => {
  const decisions = observations.map((one) => createDecision(Observation.parse(one) as OneStreamObservation));
  const [first] = decisions;
  if (!first) return [];
  return record(first.stream, first.decider, ...decisions.map(({ decision }) => decision));
};

const profile = {
  type: 'brand.profile' as const,
  domain: DOMAIN,
  observed_at: at(1),
  name: 'Example Shop',
  description: 'Boots for wet weather.',
  url: `https://www.${DOMAIN}/`,
  logo_url: null,
  country: null,
  category_path: PATH,
  is_public: true,
  indexable: null,
} satisfies OneStreamObservation;

const definition = {
  type: 'category.define',
  observed_at: at(1),
  level: 2,
  taxonomy: 'shop-taxonomy',
  taxonomy_id: '187',
  description: null,
} as const;

const file = {
  type: 'creative.file',
  creative_key: CREATIVE_KEY,
  observed_at: at(1),
  ad_ids: ['9999999991'],
  media_kind: 'video',
  content_type: 'video/mp4',
  bytes: 2_000_000,
  width: 1080,
  height: 1920,
  duration_seconds: 14.5,
  media_url: null,
  object_key: null,
  poster_url: null,
} as const;

const link = {
  type: 'social_page.link',
  brand_domain: DOMAIN,
  page_id: '100000001',
  page_name: 'Example Shop',
  role: 'OWNER',
  confidence: 0.9,
  linked: true,
} as const;

const company = {
  type: 'operator.record',
  observed_at: at(1),
  name: 'Example Holdings',
  country: 'US',
  basis: 'site_imprint',
} as const;

const profiles = (): readonly StreamEvent[] => [
  ...observed(profile, { ...profile, observed_at: at(2), country: 'US', category_path: [...PATH, 'Boots'] }),
  ...observed(
    { ...definition, path: PATH },
    { ...definition, path: PATH, observed_at: at(2), description: 'Everything for feet.' },
  ),
  ...observed(
    { ...file, ad_ids: [...file.ad_ids], frame_times_seconds: [0, 1.5, 3] },
    { ...file, ad_ids: ['9999999992'], frame_times_seconds: null, observed_at: at(2) },
    {
      ...file,
      ad_ids: ['9999999991'],
      frame_times_seconds: null,
      observed_at: at(3),
      media_url: `https://media.${DOMAIN}/a.mp4`,
    },
    {
      type: 'creative.analysis',
      creative_key: CREATIVE_KEY,
      observed_at: at(4),
      depth: 'described',
      transcript: 'The cove boot is back.',
      language: 'en',
      corrections: [{ heard: 'cave', meant: 'cove' }],
      shown_texts: ['Back in stock'],
      read_frame_times_seconds: [0, 3],
      fields: {
        hook: 'claim',
        style: 'studio',
        presenter: 'voice_over',
        setting: 'studio',
        tone: 'informative',
        offer: 'none',
        audio: 'speech',
      },
    },
  ),
  ...observed(
    {
      type: 'landing_page.scrape',
      page_url: PAGE_URL,
      observed_at: at(1),
      http_status: 200,
      canonical_url: `https://www.${DOMAIN}/products/boot`,
      title: 'The cove boot',
      description: 'A boot.',
      language: 'en-US',
      headings: ['The cove boot'],
      cta_texts: ['Add to cart'],
    },
    {
      type: 'landing_page.classify',
      page_url: PAGE_URL,
      observed_at: at(2),
      page_type: 'product',
      confidence: 0.9,
    },
  ),
  ...observed(
    { ...company, domains: [DOMAIN], page_ids: ['100000001'] },
    { ...company, observed_at: at(2), domains: ['boots.example'], page_ids: ['100000001'] },
  ),
  ...observed(
    { ...link, observed_at: at(1) },
    { ...link, observed_at: at(2), quarantined: true },
    { ...link, observed_at: at(3), linked: false },
    { ...link, observed_at: at(4), role: 'CREATOR' },
    { ...link, observed_at: at(2), linked: false },
    {
      type: 'social_page.profile',
      page_id: '100000001',
      observed_at: at(5),
      source: 'library',
      page_name: 'Example Shop',
      username: 'exampleshop',
      category: 'Shoe shop',
      verified: true,
      followers: 1_200,
      likes: 1_000,
    },
  ),
  ...observed({
    type: 'traffic.estimate',
    domain: DOMAIN,
    observed_at: '2026-06-02T00:00:00.000Z',
    period: '2026-05',
    provider: 'estimates',
    monthly_visits: 12_000,
    global_rank: 90_000,
    category_rank: 40,
    provider_category: 'Shoes',
    countries: [{ country: 'US', share: 0.7 }],
    demographics: {
      female: 0.6,
      male: 0.4,
      age_18_24: 0.2,
      age_25_34: 0.3,
      age_35_44: 0.2,
      age_45_54: 0.1,
      age_55_64: 0.1,
      age_65_plus: null,
    },
    similar_sites: [{ domain: 'boots.example', affinity: 0.9, provider_category: 'Shoes' }],
  }),
];
const attribution = (moved: AdRecord): readonly StreamEvent[] => {
  const other = brandIdOf('other.example');
  const move = { ad_id: moved.ad_id, from_brand_id: BRAND, to_brand_id: other, ad: moved };
  const cause = { scan_id: derivedId('sample scan', 'moved'), observed_at: at(7) };
  return [BRAND, other].map((brand_id) => ({
    stream: adLibraryStream(brand_id),
    event: { type: 'AdAttributed', data: { ...cause, ...move, brand_id } },
  }));
};

/** Scans of one brand, with one of another collector, and one that arrives late. */
const adLibrary = (): readonly StreamEvent[] => {
  const shop = library();
  const card = {
    body: 'Card',
    title: 'Cove',
    link_description: null,
    cta_text: 'Shop now',
    link_url: PAGE_URL,
  };
  const boot = {
    started_on: '2026-04-20',
    body: 'The cove boot is back.',
    title: 'Cove boot',
    cta_type: 'SHOP_NOW',
    cta_text: 'Shop now',
    link_url: PAGE_URL,
    format: 'image' as const,
    media: [{ kind: 'image' as const, url: `https://media.${DOMAIN}/a.jpg`, poster_url: null }],
  };
  const partner = { page_id: '100000009', page_name: 'Maya' };
  const details = { link_description: 'Free returns.', platforms: ['facebook'], languages: ['en'] };
  const one = ad(1, boot);
  const two = ad(2, { ...boot, body: 'Dry feet.', format: 'carousel', cards: [card] });
  const moved = ad(2, {
    ...boot,
    body: 'Dry feet.',
    format: 'carousel',
    cards: [card],
    link_url: `https://www.${DOMAIN}/sale`,
  });
  const revised = ad(1, { ...boot, ...details, body: 'The cove boot is here to stay.' });
  const launched = ad(3, { ...boot, started_on: '2026-05-02', body: 'New.', branded_content: partner });
  const ended = { ...launched, is_active: false };
  const reworded = (body: string | null) => `Sponsored 0:00 / 0:45 ${body ?? ''}`;
  const scans = [
    shop.scan({ at: at(1) }, [one, two]),
    shop.scan({ at: at(2) }, [ad(1, { ...boot, ...details }), moved, launched]),
    shop.scan({ at: at(3) }, [revised, moved]),
    shop.scan({ at: at(4) }, [revised, launched]),
    shop.scan({ at: at(5) }, [revised, launched]),
    shop.scan({ at: at(6) }, [revised, moved, launched]),
    shop.scan(
      { at: at(7), collector: 'two' },
      [revised, moved, launched].map((shown) => ({ ...shown, body: reworded(shown.body) })),
    ),
    shop.scan({ at: at(8), complete: false }, [ended]),
    shop.scan({ at: at(9), complete: false }, [ended]),
  ];
  const recorded = [...scans.flat(), ...shop.scan({ at: '2026-05-01T20:00:00.000Z' }, [one, ad(4, boot)])];
  const corrected = recorded.find(
    (event): event is AdObservationCorrected => event.type === 'AdObservationCorrected',
  );
  if (!corrected) throw new Error('the samples have no correction');
  return [
    ...recorded.map((event) => ({ stream: adLibraryStream(BRAND), event })),
    ...attribution(corrected.data.after),
  ];
};

const sites = (): readonly StreamEvent[] => {
  const splitter = siteTool('splitter', 'A/B testing');
  const chat = siteTool('chat');
  const split_test_tools = [{ slug: 'splitter', readable: true }];
  const first = siteSplitTest('splitter', '1', {
    arms: [
      { name: 'A', allocation: 0.5 },
      { name: 'B', allocation: 0.5 },
    ],
    pages: [{ url: `https://${DOMAIN}/sale`, match: 'exact' }],
  });
  const both = { tools: [splitter, chat], split_test_tools };
  const renamed = { ...chat, name: 'Chat with us' };
  return siteEvents(
    siteScan(DOMAIN, at(1), { ...both, split_tests: [first] }),
    siteScan(DOMAIN, at(2), { tools: [splitter, renamed], split_test_tools, split_tests: [] }),
    siteScan(DOMAIN, at(3), { tools: [splitter], split_test_tools, split_tests: [first] }),
    siteScan(DOMAIN, at(4), { ...both, split_tests: [{ ...first, state: 'paused' }] }),
    siteScan(DOMAIN, at(5), { tools: [splitter], split_test_tools, split_tests: [first] }),
    siteScan(DOMAIN, at(6), { tools: [splitter], split_test_tools, split_tests: [first] }),
    siteScan(DOMAIN, '2026-05-02T20:00:00.000Z', {
      tools: [splitter, siteTool('late')],
      split_test_tools,
      split_tests: [first],
    }),
  );
};

const storefronts = (): readonly StreamEvent[] => {
  const [one, two] = [shopProduct(1, '20.00'), shopProduct(2, '30.00')];
  return shopEvents(
    { scan: shopScan(DOMAIN, at(1)), products: [one, two] },
    { scan: shopScan(DOMAIN, at(2)), products: [shopProduct(1, '18.00', { title: 'Boot one' })] },
    { scan: shopScan(DOMAIN, at(3)), products: [one, two, shopProduct(3, '25.00')] },
    { scan: shopScan(DOMAIN, at(4)), products: [one, two] },
    { scan: shopScan(DOMAIN, at(5)), products: [one, two] },
  );
};

export const corpusSamples = (): readonly StreamEvent[] => [
  ...profiles(),
  ...adLibrary(),
  ...sites(),
  ...storefronts(),
];
