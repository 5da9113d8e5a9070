import { trafficEstimate, brandProfile } from '#tests/dsl/site-events.ts';
import { describe, test } from 'vitest';
import type { ReadDatabase } from '#contracts/ports/read-database.ts';
import { Observation } from '#contracts/observations/index.ts';
import { brands } from '#projections/brands/project.ts';
import { categories } from '#projections/categories/project.ts';
import { creatives } from '#projections/creatives/project.ts';
import type { Projection } from '#projections/define-projection.ts';
import { operators } from '#projections/operators/project.ts';
import { pages } from '#projections/pages/project.ts';
import { socialPages } from '#projections/social-pages/project.ts';
import { splitTests } from '#projections/split-tests/project.ts';
import { tools } from '#projections/tools/project.ts';
import { traffic } from '#projections/traffic/project.ts';
import { createDecision, type OneStreamObservation } from '#services/ingest/intake/decider-registry.ts';
import { type GivenEvent, given } from '../dsl/projections.ts';

/** Tables are the same in any order of arrival of the observations of a record with several fields (rules 4 and 11). */

const on = (day: number): string => `2026-06-0${day}T00:00:00.000Z`;

const profile = brandProfile();
const pageProfile = {
  type: 'social_page.profile',
  page_id: '100000001',
  source: 'library',
  page_name: null,
  username: null,
  category: null,
  verified: null,
  followers: null,
  likes: null,
};
const link = {
  type: 'social_page.link',
  brand_domain: 'shop.example',
  page_id: '100000001',
  page_name: null,
  role: 'CREATOR',
  confidence: 0.9,
  linked: true,
};
const estimate = trafficEstimate();
const definition = {
  type: 'category.define',
  level: null,
  taxonomy: null,
  taxonomy_id: null,
  description: null,
};
const scrape = {
  type: 'landing_page.scrape',
  page_url: 'https://shop.example/boot',
  http_status: null,
  canonical_url: null,
  title: null,
  description: null,
  language: null,
  headings: null,
  cta_texts: null,
};
const classification = {
  type: 'landing_page.classify',
  page_url: 'https://shop.example/boot',
  confidence: 0.9,
};
const file = {
  type: 'creative.file',
  creative_key: 'ab'.repeat(32),
  ad_ids: ['1000000001'],
  media_kind: 'image',
  content_type: null,
  bytes: null,
  width: null,
  height: null,
  duration_seconds: null,
  frame_times_seconds: null,
  media_url: null,
  object_key: null,
  poster_url: null,
};
const analysis = {
  type: 'creative.analysis',
  creative_key: 'ab'.repeat(32),
  depth: 'described',
  transcript: null,
  language: null,
  corrections: null,
  shown_texts: null,
  read_frame_times_seconds: null,
  fields: null,
};
const company = {
  type: 'operator.record',
  name: 'Harbor',
  country: null,
  basis: 'filing',
  domains: [],
  page_ids: [],
};

/** The last observation confirms the first in one field, and each states a field that the others leave out. */
const HISTORIES: readonly (readonly [string, readonly Projection[], readonly object[]])[] = [
  [
    'profiles of a brand',
    [brands, categories, tools, splitTests],
    [
      { ...profile, country: 'US', category_path: ['Apparel', 'Shoes'], url: 'https://shop.example/us' },
      {
        ...profile,
        country: 'DE',
        category_path: ['apparel', 'Boots'],
        is_public: false,
        description: 'Boots.',
      },
      {
        ...profile,
        country: 'US',
        category_path: ['Apparel', 'Shoes'],
        logo_url: 'https://shop.example/a.png',
      },
    ],
  ],
  [
    'profiles of a social page',
    [socialPages],
    [
      { ...pageProfile, page_name: 'Shop', followers: 10, username: 'shop' },
      { ...pageProfile, page_name: 'The shop', followers: 20, likes: 5, source: 'page' },
      { ...pageProfile, page_name: 'Shop', followers: 10, verified: true },
      { ...pageProfile, followers: 30, category: 'Shoes' },
    ],
  ],
  [
    'links of a social page',
    [socialPages],
    [
      { ...link, page_name: 'Shop' },
      { ...link, confidence: 0.8, page_name: 'The shop' },
      { ...link, confidence: 0.9, page_name: 'Shop' },
      { ...link, confidence: 0.7 },
    ],
  ],
  [
    'estimates of a month',
    [traffic, categories, tools],
    [
      { ...estimate, monthly_visits: 900, global_rank: 7 },
      { ...estimate, monthly_visits: 1_200, countries: [{ country: 'US', share: 0.5 }] },
      { ...estimate, monthly_visits: 900, category_rank: 3 },
      { ...estimate, period: '2026-04', monthly_visits: 10 },
    ],
  ],
  [
    'definitions of a category',
    [categories, brands, tools, splitTests],
    [
      { ...definition, path: ['apparel', 'Shoes'], description: 'For feet.' },
      { ...definition, path: ['Apparel', 'SHOES'], taxonomy: 'google', taxonomy_id: '187' },
      { ...definition, path: ['Apparel', 'Shoes'] },
    ],
  ],
  [
    'visits of a landing page',
    [pages],
    [
      { ...scrape, title: 'Boot', http_status: 200, description: 'Warm.' },
      { ...classification, page_type: 'product' },
      { ...scrape, title: 'Boots', http_status: 404, language: 'en' },
      { ...classification, page_type: 'quiz' },
      { ...scrape, title: 'Boot', headings: ['Boots'] },
      { ...classification, page_type: 'product' },
    ],
  ],
  [
    'measurements and analyses of a file',
    [creatives],
    [
      { ...file, bytes: 5, object_key: 'media/a', width: 10, height: 20 },
      { ...analysis, transcript: 'hi', language: 'en', fields: fieldsOf('story') },
      { ...file, bytes: 6, removed: true, ad_ids: ['1000000002'] },
      { ...analysis, transcript: 'ho', fields: fieldsOf('question') },
      { ...file, bytes: 5, content_type: 'image/png', thumb_object_key: 'thumb/a' },
      { ...analysis, transcript: 'hi', shown_texts: ['NEW'] },
    ],
  ],
  [
    'records of a company',
    [operators],
    [
      { ...company, country: 'US', domains: ['a.example'], page_ids: ['100000001'] },
      { ...company, name: 'HARBOR', country: 'DE', domains: ['b.example'] },
      { ...company, country: 'US', domains: ['a.example'] },
      { ...company, basis: 'site_imprint', domains: ['c.example'] },
      { ...company },
    ],
  ],
];

function fieldsOf(hook: string) {
  return { hook, style: null, presenter: null, setting: null, tone: null, offer: null, audio: null };
}

/** Each observation is decided on the state after those that arrived before it. */
const eventsOf = (observations: readonly OneStreamObservation[]): readonly GivenEvent[] => {
  const states = new Map<string, unknown>();
  return observations.flatMap((observation) => {
    const { stream, decider, decision } = createDecision(observation, 'shop');
    const state = states.get(stream) ?? decider.initial;
    const events = decision(state);
    states.set(stream, events.reduce(decider.evolve, state));
    return events.map((event) => ({ stream, event }));
  });
};

const rowsOf = (name: string) => async (db: ReadDatabase) => {
  const schema = name.replaceAll('-', '_');
  const tables = await db.query<{ table_name: string }>({
    sql: `select table_name from information_schema.tables where table_schema = $1 order by table_name`,
    values: [schema],
  });
  const rows: Record<string, unknown> = {};
  for (const { table_name } of tables) {
    rows[table_name] = await db.query({
      sql: `select to_jsonb(t) as row from ${schema}."${table_name}" t order by to_jsonb(t)::text`,
      values: [],
    });
  }
  return rows;
};

describe.each(HISTORIES)('%s', (_, projections, history) => {
  test.each(projections)('have the same rows of $name in any order of arrival', async (projection) => {
    const inTime = history.map(
      (one, index) => Observation.parse({ ...one, observed_at: on(index + 1) }) as OneStreamObservation,
    );
    const [first, ...later] = inTime;
    const read = rowsOf(projection.name);
    let shown: unknown;
    await given(eventsOf(inTime))
      .into(projection)
      .shows(async (db) => {
        shown ??= await read(db);
        return 'read';
      }, 'read');
    const arrivals = [inTime.toReversed(), [...later, first], [...later.toReversed(), ...inTime]];
    for (const arrived of arrivals)
      await given(eventsOf(arrived as readonly OneStreamObservation[]))
        .into(projection)
        .shows(read, shown);
  });
});
