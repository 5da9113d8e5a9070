import { describe, expect, test } from 'vitest';
import { ExportFolder, reading } from '../fixtures/export-files.ts';

/** Only the invalid line is refused. */
const observed_at = '2026-03-02T08:00:00.000Z';
const KEY = 'a'.repeat(64);
const PATH = ['Apparel', 'Shoes'];

const estimate = (fields: object) => ({
  type: 'traffic.estimate',
  domain: 'shop.example',
  period: '2026-02',
  provider: 'provider',
  observed_at,
  monthly_visits: 10,
  global_rank: null,
  category_rank: null,
  provider_category: null,
  countries: null,
  demographics: null,
  similar_sites: null,
  ...fields,
});
const analysis = (fields: object) => ({
  type: 'creative.analysis',
  creative_key: KEY,
  observed_at,
  depth: 'transcribed',
  transcript: 'Warm socks',
  language: null,
  corrections: null,
  shown_texts: null,
  read_frame_times_seconds: null,
  fields: null,
  ...fields,
});
const define = (path: readonly string[]) => ({
  type: 'category.define',
  observed_at,
  path,
  level: null,
  taxonomy: null,
  taxonomy_id: null,
  description: null,
});
const profile = (fields: object) => ({
  type: 'social_page.profile',
  page_id: '100000001',
  source: 'library',
  observed_at,
  page_name: 'Shop',
  username: null,
  category: null,
  verified: null,
  followers: 5,
  likes: null,
  ...fields,
});
const link = (fields: object) => ({
  type: 'social_page.link',
  brand_domain: 'shop.example',
  page_id: '100000001',
  page_name: null,
  observed_at,
  role: 'OFFICIAL',
  confidence: 0.9,
  linked: true,
  ...fields,
});

describe('an observation', () => {
  const VALID = [define(PATH), analysis({}), profile({}), link({}), estimate({})];

  test.each([
    ['an unknown enum', analysis({ depth: 'deep' }), 'depth'],
    ['an unknown kind', { ...define(PATH), type: 'category.rename' }, 'type'],
    ['a category inside itself', define([...PATH, 'apparel']), 'path'],
    ['a percentage over 1', estimate({ countries: [{ country: 'US', share: 62 }] }), 'share'],
    ['a confidence over 1', link({ confidence: 1.5 }), 'confidence'],
    ['a negative count', profile({ followers: -1 }), 'followers'],
    [
      'a site similar to itself',
      estimate({ similar_sites: [{ domain: 'shop.example', affinity: 1, provider_category: null }] }),
      'names the site itself',
    ],
    ['a month of the year 0', estimate({ period: '0000-01' }), 'period'],
    ['half an emoji', profile({ page_name: 'Shop \ud83e' }), 'page_name'],
    ['a domain without labels', link({ brand_domain: 'shop..example' }), 'brand_domain'],
    ['negative visits', estimate({ monthly_visits: -1 }), 'monthly_visits'],
    ['a transcript of 5 MB', analysis({ transcript: 'x'.repeat(5_000_000) }), ''],
    ['money', estimate({ revenue: 5 }), 'revenue'],
  ])(
    'with %s is refused with its line, and the observations around it are read',
    async (_case, bad, named) => {
      await using folder = await ExportFolder.open();
      const [first, ...rest] = VALID.map((one) => JSON.stringify(one));
      const content = [first, JSON.stringify(bad), ...rest].join('\n');
      const { observations, refused } = await reading(await folder.file('observations.jsonl', content));
      expect(observations.map(({ type }) => type)).toEqual(VALID.map(({ type }) => type));
      expect(refused).toMatchObject([{ line: 2 }]);
      const [refusal] = refused;
      expect(`${refusal?.what} ${refusal?.advice}`).toContain(named);
      expect(refusal?.what).not.toBe('');
    },
  );
});
