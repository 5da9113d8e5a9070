import { z } from 'zod';
import { Country } from '#contracts/values/primitives.ts';
import { getBrand as getBrandEndpoint, listBrands, listSimilarSites } from '#operations/brands/brands.ts';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import {
  getBrandBreakdown,
  getBrandCreativeLibrary,
  getBrandDailyActivity,
  getBrandLeakage,
  getBrandVelocity,
} from '#operations/brands/activity.ts';
import { getBrandCoverage } from '#operations/brands/coverage.ts';
import { getBrandProof } from '#operations/brands/proof.ts';
import { getBrandDemographics, getBrandTrajectory } from '#operations/brands/demographics.ts';
import {
  getBrandCopyReuse,
  getBrandNetwork,
  listBrandOperators,
  listBrandPartnerships,
  listBrandSocialPages,
} from '#operations/brands/network.ts';
import { getBrandSplitTests, getBrandStore, getBrandTechStack } from '#operations/brands/site.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { Refusal } from '#contracts/errors.ts';
import { FigureNameField } from '#contracts/values/figures.ts';
import { AUDIENCE_SEGMENTS } from '#contracts/values/audience-segments.ts';
import type { Scope } from '#contracts/values/access.ts';
import { listAudience } from '#operations/audience.ts';
import { listNewAdvertisers, listRanking, listRisers } from '#operations/rankings.ts';
import { listToolBrands, listTools } from '#operations/tools.ts';
import { listCategories } from '#operations/categories.ts';
import { listHubs } from '#operations/hubs.ts';
import { listOperators } from '#operations/operators.ts';
import { getSplitTestCensus } from '#operations/split-test-census.ts';
import {
  ENVELOPE_BYTES,
  NOT_SEEN,
  NO_MONEY,
  type PastInput,
  RESULT_MAX_BYTES,
  SHARED_PAGES,
  TRAFFIC_ESTIMATED,
  fitLists,
  structuredResult,
  timesOf,
} from '../output/result.ts';
import { tool } from './define-tool.ts';
import { type Section, listAnswer, readSections } from './list-answer.ts';
import {
  Brand,
  Category,
  categoryIdOf,
  imagesInput,
  isUuid,
  listInput,
  momentIn,
  pastInput,
  PAST_INPUT,
  slugCost,
  textField,
  timeInput,
} from './parameters.ts';
import { type ShownCreative, creativesIn, imageIndexOf } from '../output/pictures.ts';
import { type Json, type JsonObject, OBSERVED_IN_LISTS_MAX, separate } from '../output/observed.ts';

const NAME_MAX_LENGTH = 100;

export const findBrands = tool({
  name: 'find_brands',
  title: 'Find brands',
  description: 'Lists brands by name, category or country, with counts of their ads.',
  input: z.strictObject({
    q: z.string().min(1).max(NAME_MAX_LENGTH).optional().meta({ description: 'Part of the name.' }),
    category: Category.optional(),
    country: Country.optional().meta({ description: "The brand's country." }),
    letter: z
      .string()
      .regex(/^[a-z]$/)
      .optional()
      .meta({ description: 'First letter of the name.' }),
    sort: z.enum(['active_ads', 'new_ads_7d', 'name']).default('active_ads'),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ category }) =>
    category === undefined || isUuid(category) ? ['brands:read'] : ['brands:read', 'categories:read'],
  cost: ({ category }) => 1 + slugCost(category),
  run: async ({ q, category, country, letter, sort, limit, cursor }, context) => {
    const categoryId = category === undefined ? undefined : await categoryIdOf(context, category);
    const query = { q, category_id: categoryId, country, letter, sort };
    return listAnswer(listBrands, { limit, cursor, query, notes: [NOT_SEEN] }, context);
  },
});

const WEEKS_MAX = 52;
const WEEKS_DEFAULT = 12;
const INCLUDE_MAX = 5;
const SITES = 10;
const PRODUCTS = 10;
const SAMPLE = 6;

const ENDPOINTS = {
  profile: getBrandEndpoint,
  velocity: getBrandVelocity,
  daily_activity: getBrandDailyActivity,
  formats: getBrandBreakdown,
  social_pages: listBrandSocialPages,
  leakage: getBrandLeakage,
  copy_reuse: getBrandCopyReuse,
  partnerships: listBrandPartnerships,
  creative_library: getBrandCreativeLibrary,
  split_tests: getBrandSplitTests,
  store: getBrandStore,
  tech_stack: getBrandTechStack,
  similar: listSimilarSites,
  trajectory: getBrandTrajectory,
  demographics: getBrandDemographics,
  operators: listBrandOperators,
  network: getBrandNetwork,
  coverage: getBrandCoverage,
  proof: getBrandProof,
} as const satisfies Readonly<Record<string, Endpoint>>;
type Name = keyof typeof ENDPOINTS;
const NAMES = Object.keys(ENDPOINTS) as [Name, ...Name[]];

const hasPast = (name: Name): boolean => {
  const { past }: Endpoint = ENDPOINTS[name];
  return past !== undefined || name === 'proof';
};
const quoted = (names: readonly Name[]): string => names.map((name) => `\`${name}\``).join(', ');
const PAST_NAMES = quoted(NAMES.filter(hasPast));

const NOTES: Partial<Readonly<Record<Name, string>>> = {
  daily_activity: 'Days never observed are absent, not zero.',
  similar: TRAFFIC_ESTIMATED,
  trajectory: TRAFFIC_ESTIMATED,
  demographics: TRAFFIC_ESTIMATED,
  operators: SHARED_PAGES,
  network: SHARED_PAGES,
  proof:
    '`bundle_url` leads your user to every event that the figure rests on. It needs no key and expires at `expires_at`.',
};

type Asked = PastInput & {
  readonly weeks: number;
  readonly figure?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
};

const checkAsked = (names: readonly Name[], asked: Asked): void => {
  const { figure, from, to } = asked;
  const others = names.filter((name) => !hasPast(name));
  if (momentIn(asked) !== undefined && others.length > 0) {
    throw new Refusal(
      'invalid_input',
      `${PAST_INPUT} go with the sections ${PAST_NAMES}. Ask for ${quoted(others)} without them.`,
    );
  }
  if (asked.observed_as_of !== undefined && names.includes('proof')) {
    throw new Refusal('invalid_input', 'The section `proof` takes `as_of` and no `observed_as_of`.');
  }
  const isProof = names.includes('proof');
  if (isProof && figure === undefined) {
    throw new Refusal('invalid_input', 'The section `proof` needs `figure`.');
  }
  if (!isProof && [figure, from, to].some((one) => one !== undefined)) {
    throw new Refusal('invalid_input', '`figure`, `from` and `to` go with the section `proof`.');
  }
};

const sectionOf = (name: Name, brandId: string, asked: Asked, now: number): Section => {
  const { weeks, as_of, observed_as_of, figure, from, to } = asked;
  const endpoint = ENDPOINTS[name];
  const params = { brandId };
  const since = utcDateOfMs(Date.parse(momentIn(asked) ?? new Date(now).toISOString()) - weeks * 7 * DAY_MS);
  const queries: Partial<Readonly<Record<Name, Readonly<Record<string, unknown>>>>> = {
    velocity: { weeks },
    daily_activity: { from: since },
    creative_library: { sample: SAMPLE },
    store: { limit: PRODUCTS },
    similar: { limit: SITES },
    proof: { figure, from, to },
  };
  if (name === 'network') return { name, endpoint, input: { query: { brand_id: brandId } } };
  const query = { ...queries[name], as_of, observed_as_of };
  return { name, endpoint, input: { params, query }, isOwn: name === 'tech_stack' || name === 'proof' };
};

const creativesOf = (sections: Json, baseUrl: string): readonly ShownCreative[] => {
  const { creative_library: library } = (sections ?? {}) as JsonObject;
  const { longest_running: longest = [], newest = [] } = (library ?? {}) as Record<string, readonly Json[]>;
  const ofAds = [...longest, ...newest].map((ad) => creativesIn(ad, baseUrl));
  return [...ofAds.flatMap((creatives) => creatives.slice(0, 1)), ...ofAds.flat()];
};

export const getBrand = tool({
  name: 'get_brand',
  title: 'Get a brand',
  description:
    'Returns up to five sections about one brand: activity of its ads, social pages, creatives, site, store, traffic estimates, links to other brands, coverage (what was observed and what was not), and the proof of a figure.',
  input: z.strictObject({
    brand: Brand,
    include: z.array(z.enum(NAMES)).min(1).max(INCLUDE_MAX).default(['profile', 'velocity']),
    weeks: z
      .int()
      .min(1)
      .max(WEEKS_MAX)
      .default(WEEKS_DEFAULT)
      .meta({ description: 'Weeks back, for velocity and daily_activity.' }),
    ...pastInput('profile, velocity, daily_activity, formats and proof'),
    figure: FigureNameField.optional().meta({ description: 'For proof.' }),
    from: timeInput('First day of the figure, for new_ads and retired_ads.', 'date'),
    to: timeInput('Last day of the figure.', 'date'),
    ...imagesInput(0),
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ include }) =>
    include.includes('operators') ? ['brands:read', 'operators:read'] : ['brands:read'],
  cost: ({ include }) => new Set(['profile', ...include]).size,
  run: async ({ brand: text, include, images, image_type, ...asked }, context) => {
    const names = [...new Set(include)];
    checkAsked(names, asked);
    // An unknown brand or a wrong moment would make every section fail, so this is read first.
    const input = {
      params: { brandId: text },
      query: { as_of: asked.as_of, observed_as_of: asked.observed_as_of },
    };
    const profile = await context.call(getBrandEndpoint, input);
    const options = { maxLength: OBSERVED_IN_LISTS_MAX, baseUrl: context.baseUrl };
    const record = separate(profile.data, options) as JsonObject;
    const { id, slug, domain, url, observed } = record;
    const name = (observed as JsonObject | undefined)?.['name'] ?? null;
    const brandId = textField(profile.data, 'id');
    const others = names.filter((one) => one !== 'profile');
    const read = await readSections(
      others.map((one) => sectionOf(one, brandId, asked, context.now)),
      context,
    );
    const sections: JsonObject = {
      ...(names.includes('profile') ? { profile: record } : {}),
      ...read.sections,
    };
    const { value, notes } = fitLists(sections, RESULT_MAX_BYTES - ENVELOPE_BYTES);
    const asOfs = [...(names.includes('profile') ? [profile.asOf] : []), ...read.asOfs];
    const isShown = names.includes('creative_library');
    const wanted = { count: isShown ? images : 0, type: image_type };
    const pictures = await context.pictures(creativesOf(value, context.baseUrl), wanted);
    const said = new Set([...profile.notes, NOT_SEEN, NO_MONEY, ...names.flatMap((one) => NOTES[one] ?? [])]);
    const content = {
      brand: {
        id: id ?? null,
        slug: slug ?? null,
        domain: domain ?? null,
        url: url ?? null,
        observed: { name },
      },
      sections: value,
      ...imageIndexOf(pictures),
      ...timesOf(asOfs, context.now),
      notes: [...said, ...pictures.notes, ...notes],
    };
    return structuredResult(content, pictures.blocks);
  },
});

const DAYS_MAX = 90;
const TOOL_MAX_LENGTH = 200;

type Board = {
  readonly endpoint: Endpoint;
  readonly needs?: 'country' | 'tool' | 'segment';
  readonly notes: readonly string[];
};
const BOARDS = {
  traffic: { endpoint: listRanking, needs: 'country', notes: [TRAFFIC_ESTIMATED] },
  risers: { endpoint: listRisers, notes: [NOT_SEEN, NO_MONEY] },
  new_advertisers: { endpoint: listNewAdvertisers, notes: [NOT_SEEN, NO_MONEY] },
  tool: { endpoint: listToolBrands, needs: 'tool', notes: [TRAFFIC_ESTIMATED] },
  audience: { endpoint: listAudience, needs: 'segment', notes: [TRAFFIC_ESTIMATED] },
} as const satisfies Readonly<Record<string, Board>>;
type BoardName = keyof typeof BOARDS;

export const rankBrands = tool({
  name: 'rank_brands',
  title: 'Rank brands',
  description:
    'Compares brands on one board: estimated visits in a country, growth of active ads, first ads, use of a site tool, audience segment.',
  input: z.strictObject({
    board: z.enum(Object.keys(BOARDS) as [BoardName, ...BoardName[]]),
    country: Country.optional().meta({ description: 'Required for `traffic`; not for `audience`.' }),
    category: Category.optional().meta({ description: 'For `traffic`, `risers`, `new_advertisers`.' }),
    days: z.int().min(1).max(DAYS_MAX).optional().meta({ description: 'For `new_advertisers`.' }),
    tool: z.string().min(1).max(TOOL_MAX_LENGTH).optional().meta({ description: 'Slug, for `tool`.' }),
    segment: z
      .enum(Object.keys(AUDIENCE_SEGMENTS) as [string, ...string[]])
      .optional()
      .meta({ description: 'For `audience`.' }),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ board, category }): readonly Scope[] => [
    BOARDS[board].endpoint.scope,
    ...(category === undefined || isUuid(category) ? [] : ['categories:read' as const]),
  ],
  cost: ({ category }) => 1 + slugCost(category),
  run: async (args, context) => {
    const { board, country, category, days, tool: toolSlug, segment, limit, cursor } = args;
    const { endpoint, notes, needs }: Board = BOARDS[board];
    if (needs !== undefined && args[needs] === undefined) {
      throw new Refusal('invalid_input', `The board \`${board}\` needs \`${needs}\`.`);
    }
    const categoryId = category === undefined ? undefined : await categoryIdOf(context, category);
    const params = {
      ...(board === 'tool' ? { toolSlug } : {}),
      ...(board === 'audience' ? { segment } : {}),
    };
    const query = { country, category_id: categoryId, days };
    return listAnswer(endpoint, { limit, cursor, params, query, notes }, context);
  },
});

const PARENT_MAX_LENGTH = 100;

type Kind = { readonly endpoint: Endpoint; readonly isOwn: boolean; readonly notes: readonly string[] };
const KINDS = {
  categories: { endpoint: listCategories, isOwn: true, notes: [NOT_SEEN] },
  tools: { endpoint: listTools, isOwn: true, notes: ['A tool that was not detected may still be used.'] },
  operators: { endpoint: listOperators, isOwn: false, notes: [SHARED_PAGES] },
  hubs: { endpoint: listHubs, isOwn: false, notes: [SHARED_PAGES] },
  split_tests: {
    endpoint: getSplitTestCensus,
    isOwn: false,
    notes: ['Null means not read: the tests of this tool cannot be seen.'],
  },
} as const satisfies Readonly<Record<string, Kind>>;
type KindName = keyof typeof KINDS;

export const exploreMarket = tool({
  name: 'explore_market',
  title: 'Explore the market',
  description:
    'Lists categories, site tools, operators, pages that serve several brands (hubs), or the census of split testing.',
  input: z.strictObject({
    kind: z.enum(Object.keys(KINDS) as [KindName, ...KindName[]]),
    parent: z.string().min(1).max(PARENT_MAX_LENGTH).optional().meta({
      description:
        'Of categories: slug or uuid of the one above. Of tools: their category, such as `A/B testing`.',
    }),
    ...listInput,
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ kind }): readonly Scope[] => [KINDS[kind].endpoint.scope],
  cost: ({ kind, parent }) => (kind === 'categories' && parent !== undefined && !isUuid(parent) ? 2 : 1),
  run: async ({ kind, parent, limit, cursor }, context) => {
    const { endpoint, isOwn, notes }: Kind = KINDS[kind];
    if (parent !== undefined && kind !== 'categories' && kind !== 'tools') {
      throw new Refusal('invalid_input', `\`parent\` goes with categories and tools, not with \`${kind}\`.`);
    }
    const query = {
      ...(kind === 'categories' && parent !== undefined
        ? { parent_id: await categoryIdOf(context, parent) }
        : {}),
      ...(kind === 'tools' ? { category: parent } : {}),
    };
    return listAnswer(endpoint, { limit, cursor, query, isOwn, notes }, context);
  },
});
