import { z } from 'zod';
import { DAY_MS, utcDateOfMs } from '#contracts/values/time.ts';
import {
  getBrandBreakdown,
  getBrandCreativeLibrary,
  getBrandDailyActivity,
  getBrandLeakage,
  getBrandVelocity,
} from '#operations/brands/activity.ts';
import { getBrandDemographics, getBrandTrajectory } from '#operations/brands/demographics.ts';
import { getBrand as getBrandEndpoint, listSimilarSites } from '#operations/brands/brands.ts';
import {
  getBrandCopyReuse,
  getBrandNetwork,
  listBrandOperators,
  listBrandPartnerships,
  listBrandSocialPages,
} from '#operations/brands/network.ts';
import { getBrandSplitTests, getBrandStore, getBrandTechStack } from '#operations/brands/site.ts';
import type { Endpoint } from '#operations/endpoint/define-endpoint.ts';
import { ENVELOPE_BYTES, fitLists, RESULT_MAX_BYTES } from '../../output/fit.ts';
import { NO_MONEY, NOT_SEEN, SHARED_PAGES, TRAFFIC_ESTIMATED } from '../../output/notes.ts';
import { creativesIn, imageIndexOf, type ShownCreative } from '../../output/pictures.ts';
import { type Json, type JsonObject, OBSERVED_IN_LISTS_MAX, separate } from '../../output/observed.ts';
import { structuredResult, timesOf } from '../../output/result.ts';
import { tool } from '../define-tool.ts';
import { Brand, imagesInput, textField } from '../parameters.ts';
import { readSections, type Section } from '../sections.ts';

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
} as const satisfies Readonly<Record<string, Endpoint>>;
type Name = keyof typeof ENDPOINTS;
const NAMES = Object.keys(ENDPOINTS) as [Name, ...Name[]];

const NOTES: Partial<Readonly<Record<Name, string>>> = {
  daily_activity: 'Days never observed are absent, not zero.',
  similar: TRAFFIC_ESTIMATED,
  trajectory: TRAFFIC_ESTIMATED,
  demographics: TRAFFIC_ESTIMATED,
  operators: SHARED_PAGES,
  network: SHARED_PAGES,
};

const sectionOf = (name: Name, brandId: string, weeks: number, now: number): Section => {
  const endpoint = ENDPOINTS[name];
  const params = { brandId };
  const since = utcDateOfMs(now - weeks * 7 * DAY_MS);
  const queries: Partial<Readonly<Record<Name, Readonly<Record<string, unknown>>>>> = {
    velocity: { weeks },
    daily_activity: { from: since },
    creative_library: { sample: SAMPLE },
    store: { limit: PRODUCTS },
    similar: { limit: SITES },
  };
  if (name === 'network') return { name, endpoint, input: { query: { brand_id: brandId } } };
  return { name, endpoint, input: { params, query: queries[name] ?? {} }, isOwn: name === 'tech_stack' };
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
    'Returns up to five sections about one brand: activity of its ads, social pages, creatives, site, store, traffic estimates, links to other brands.',
  input: z.strictObject({
    brand: Brand,
    include: z.array(z.enum(NAMES)).min(1).max(INCLUDE_MAX).default(['profile', 'velocity']),
    weeks: z
      .int()
      .min(1)
      .max(WEEKS_MAX)
      .default(WEEKS_DEFAULT)
      .meta({ description: 'Weeks back, for velocity and daily_activity.' }),
    ...imagesInput(0),
  }),
  output: 'structured',
  kind: 'reader',
  scopes: ({ include }) =>
    include.includes('operators') ? ['brands:read', 'operators:read'] : ['brands:read'],
  cost: ({ include }) => new Set(['profile', ...include]).size,
  run: async ({ brand: text, include, weeks, images, image_type }, context) => {
    // An unknown brand would make every section fail, so it is read first.
    const profile = await context.call(getBrandEndpoint, { params: { brandId: text } });
    const options = { maxLength: OBSERVED_IN_LISTS_MAX, baseUrl: context.baseUrl };
    const record = separate(profile.data, options) as JsonObject;
    const { id, slug, domain, url, observed } = record;
    const name = (observed as JsonObject | undefined)?.['name'] ?? null;
    const names = [...new Set(include)];
    const brandId = textField(profile.data, 'id');
    const others = names.filter((one) => one !== 'profile');
    const read = await readSections(
      others.map((one) => sectionOf(one, brandId, weeks, context.now)),
      context,
    );
    const sections: JsonObject = {
      ...(names.includes('profile') ? { profile: record } : {}),
      ...read.sections,
    };
    const { value, notes } = fitLists(sections, RESULT_MAX_BYTES - ENVELOPE_BYTES);
    const asOfs = [...(names.includes('profile') ? [profile.asOf] : []), ...read.asOfs];
    const isShown = names.includes('creative_library');
    const asked = { count: isShown ? images : 0, type: image_type };
    const pictures = await context.pictures(creativesOf(value, context.baseUrl), asked);
    const said = new Set([NOT_SEEN, NO_MONEY, ...names.flatMap((one) => NOTES[one] ?? [])]);
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
