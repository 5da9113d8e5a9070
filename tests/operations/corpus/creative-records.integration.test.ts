import { describe, expect, test } from 'vitest';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import type { CorpusBrand } from '../fixtures/corpus.ts';
import { keyOf, NO_FIELDS, recordCreative } from '../fixtures/creative-events.ts';
import { openApiStack } from '../fixtures/stack.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
/** The only key with this prefix of ten characters. */
const UNIQUE_PREFIX_KEY = `0123456789${'a'.repeat(54)}`;

const stack = await disposeAfterAll(openApiStack());
const [opened, owned, brands] = await Promise.all([
  stack.api(),
  stack.key(),
  stack.seed(['alpha', 'beta', 'gamma']),
]);
const [app, key, alpha, beta] = [opened, owned, brands[0] as CorpusBrand, brands[1] as CorpusBrand];
const [one = '', two = '', three = '', four = ''] = alpha.adIds;
await recordCreative(
  stack,
  keyOf(1),
  [one, two, three],
  {},
  {
    transcript: 'The cave boot is back',
    language: 'en',
    corrections: [{ heard: 'cave', meant: 'Cove' }],
    shown_texts: ['Half price'],
    fields: { ...NO_FIELDS, hook: 'question', offer: 'discount' },
  },
);
await recordCreative(
  stack,
  keyOf(2),
  [four],
  { media_kind: 'image', duration_seconds: null, width: 600, bytes: 40_000 },
  { fields: { ...NO_FIELDS, hook: 'offer' } },
);
await recordCreative(
  stack,
  keyOf(3),
  [beta.adIds[0] ?? ''],
  { duration_seconds: 60.5 },
  {
    depth: 'transcribed',
    transcript: '',
  },
);
await stack.projected(await recordCreative(stack, UNIQUE_PREFIX_KEY, ['7777777777'], {}));

const found = async (query: string): Promise<readonly number[]> => {
  const { data, status } = await on(app).get(`/v1/creative-records?${query}`, { key });
  expect(status).toBe(200);
  return (data as { creative_key: string }[]).map(({ creative_key }) =>
    creative_key === UNIQUE_PREFIX_KEY ? 0 : Number(creative_key.slice(-1)),
  );
};

describe('searchCreativeRecords 200', () => {
  test('lists one record per file, most live ads first, over all pages', async () => {
    expect(await found('')).toEqual([1, 3, 2, 0]);
    const first = await on(app).get('/v1/creative-records?limit=3', { key });
    const second = await on(app).get(`/v1/creative-records?limit=3&cursor=${first.meta.cursor}`, { key });
    expect(second.data).toMatchObject([{ creative_key: UNIQUE_PREFIX_KEY, active_ads: 0, total_ads: 0 }]);
    expect(second.meta.cursor).toBeUndefined();
  });
  test.each([
    ['depth=described', [1, 2]],
    ['depth=measured', [0]],
    ['media_kind=image', [2]],
    ['hook=question', [1]],
    ['hook=question&offer=discount', [1]],
    ['hook=offer&offer=discount', []],
    ['said=boot', [1]],
    ['said=cove', [1]],
    ['said=boat', []],
    ['shown=price', [1]],
    ['shown=price&media_kind=image', []],
    ['min_duration_seconds=15.5', [3]],
    ['max_duration_seconds=15&min_duration_seconds=15', [1, 0]],
    ['max_bytes=40000', [2]],
    ['max_width=600', [2]],
    ['min_width=601&min_active_ads=1', [1, 3]],
    ['max_active_ads=0', [0]],
    ['min_height=1921', []],
  ])('filters by %s', async (query, expected) => {
    expect(await found(query)).toEqual(expected);
  });
  test('filters by brand, alone and combined with values', async () => {
    expect(await found(`brand_id=${alpha.id}`)).toEqual([1, 2]);
    expect(await found(`brand_id=${alpha.id}&media_kind=video`)).toEqual([1]);
    expect(await found(`brand_id=${UNKNOWN}`)).toEqual([]);
  });
  test('counts the ads with the file, and returns null for fields that were not read', async () => {
    const { data } = await on(app).get(`/v1/creative-records?brand_id=${beta.id}`, { key });
    expect(data).toMatchObject([
      {
        active_ads: 1,
        total_ads: 1,
        depth: 'transcribed',
        transcript_excerpt: '',
        fields: NO_FIELDS,
      },
    ]);
    const { data: measured } = await on(app).get('/v1/creative-records?depth=measured', { key });
    expect(measured).toMatchObject([{ transcript_excerpt: null }]);
  });
});

describe('searchCreativeRecords 400', () => {
  test.each([
    'hook=shock',
    'depth=deep',
    'media_kind=audio',
    'brand_id=alpha',
    'said=',
    `shown=${'x'.repeat(201)}`,
    'min_duration_seconds=-1',
    'min_duration_seconds=1e3',
    'min_bytes=1.5',
    'min_width=2&max_width=1',
    'min_spend=1',
  ])('rejects %s', async (query) => {
    expect((await on(app).get(`/v1/creative-records?${query}`, { key })).status).toBe(400);
  });
});

describe('getCreativeRecord 200', () => {
  test('returns media data, transcript with corrections, classification and ads by key', async () => {
    const { data, meta } = await on(app).get(`/v1/creative-records/${keyOf(1)}`, { key });
    expect(data).toMatchObject({
      creative_key: keyOf(1),
      frame_times_seconds: [0, 5, 10],
      transcript: {
        text: 'The cave boot is back',
        language: 'en',
        corrections: [{ heard: 'cave', meant: 'Cove' }],
      },
      shown_texts: ['Half price'],
      fields: { ...NO_FIELDS, hook: 'question', offer: 'discount' },
      active_ads: 2,
      total_ads: 3,
      brands: [{ brand: { id: alpha.id }, active_ads: 2, total_ads: 3 }],
      ads: [{ active: true }, { active: true }, { id: alpha.adIds[1], active: false }],
    });
    expect(meta.as_of).toBe('2026-05-03T10:00:00.000Z');
  });
  test('finds a record by a key prefix of ten characters, regardless of case', async () => {
    for (const prefix of [UNIQUE_PREFIX_KEY.slice(0, 10), UNIQUE_PREFIX_KEY.slice(0, 30).toUpperCase()]) {
      const { data } = await on(app).get(`/v1/creative-records/${prefix}`, { key });
      expect(data).toMatchObject({
        creative_key: UNIQUE_PREFIX_KEY,
        transcript: null,
        shown_texts: null,
        ads: [],
      });
    }
  });
});

describe('getCreativeRecord 400', () => {
  test.each(['012345678', `${UNIQUE_PREFIX_KEY}0`, 'not-a-hexadecimal'])(
    'rejects the key %s',
    async (text) => {
      expect((await on(app).get(`/v1/creative-records/${text}`, { key })).status).toBe(400);
    },
  );
});

describe('getCreativeRecord 404', () => {
  test('rejects a prefix without a matching key', async () => {
    expect((await on(app).get('/v1/creative-records/abcdefabcdef', { key })).status).toBe(404);
  });
});

describe('getCreativeRecord 409', () => {
  test('rejects a prefix with several matching keys', async () => {
    const { status, error } = await on(app).get('/v1/creative-records/9999999999', { key });
    expect(status).toBe(409);
    expect(error).toMatchObject({
      type: 'conflict',
      message: expect.stringContaining('Send more characters of the key.'),
    });
  });
});

describe('getCreativeCoverage 200', () => {
  test('counts each file of all public brands once', async () => {
    const { data } = await on(app).get('/v1/creative-coverage', { key });
    expect(data).toMatchObject({
      brand: null,
      measured_files: 3,
      images: 1,
      videos: 2,
      transcribed_files: 3,
      described_files: 2,
    });
  });
  test('counts the files of one brand, with the values of each closed field', async () => {
    const { data } = await on(app).get(`/v1/creative-coverage?brand_id=${alpha.id}`, { key });
    expect(data).toMatchObject({ brand: { id: alpha.id }, measured_files: 2, described_files: 2 });
    expect((data as { fields: object[] }).fields).toContainEqual({
      field: 'offer',
      values: [{ value: 'discount', files: 1 }],
      not_read: 1,
    });
  });
  test('returns null, not zero, for files that were not described', async () => {
    const { data } = await on(app).get(`/v1/creative-coverage?brand_id=${beta.id}`, { key });
    expect((data as { fields: object[] }).fields).toContainEqual({
      field: 'hook',
      values: null,
      not_read: null,
    });
  });
});

describe('getCreativeCoverage 400', () => {
  test('rejects a slug', async () => {
    expect((await on(app).get('/v1/creative-coverage?brand_id=alpha', { key })).status).toBe(400);
  });
});

describe('getCreativeCoverage 404', () => {
  test('rejects an unknown brand', async () => {
    expect((await on(app).get(`/v1/creative-coverage?brand_id=${UNKNOWN}`, { key })).status).toBe(404);
  });
});
