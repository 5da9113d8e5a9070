import { describe, expect, test } from 'vitest';
import { archivedUrlOf } from '#projections/queries/ad-archived-media.ts';
import { on } from '#tests/dsl/api.ts';
import { disposeAfterAll } from '#tests/stack/dispose-after-all.ts';
import type { CorpusBrand } from '../fixtures/corpus.ts';
import { creativeOf, keyOf, recordCreative } from '../fixtures/creative-events.ts';
import { openApiStack } from '../fixtures/stack.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const adOf = (brand: CorpusBrand, place: number): string => brand.adIds[place] ?? '';

const stack = await disposeAfterAll(openApiStack());
const [opened, owned, brands] = await Promise.all([stack.api(), stack.key(), stack.seed(['alpha', 'beta'])]);
const [app, key, alpha, beta] = [opened, owned, brands[0] as CorpusBrand, brands[1] as CorpusBrand];
// Alpha has five files of its live ad 2, one of the ended ad 1, and one that was measured but not stored.
for (const n of [1, 2, 3, 4, 5]) await recordCreative(stack, keyOf(n), [adOf(alpha, 2)]);
await recordCreative(stack, keyOf(6), [adOf(alpha, 1), adOf(alpha, 0)], {
  media_kind: 'image',
  duration_seconds: null,
  poster_url: null,
});
await stack.projected(
  await recordCreative(stack, keyOf(7), [adOf(alpha, 3)], { media_url: null, poster_url: null }),
);

const adsIn = (data: unknown): readonly string[] => (data as { ad_id: string }[]).map(({ ad_id }) => ad_id);

describe('listCreatives 200', () => {
  test('lists the archived assets of an ad', async () => {
    const { data } = await on(app).get(`/v1/creatives?ad_id=${adOf(alpha, 0)}`, { key });
    expect(data).toMatchObject([
      {
        id: creativeOf(6, adOf(alpha, 0)),
        brand_id: alpha.id,
        media_kind: 'image',
        duration_seconds: null,
        ad_active: true,
        record_url: `https://api.test/v1/creative-records/${keyOf(6)}`,
      },
    ]);
  });
  test('lists the stored files of attributed ads of a brand, newest ad first, over all pages', async () => {
    const first = await on(app).get(`/v1/creatives?brand_id=${alpha.id}&limit=4`, { key });
    expect(new Set(adsIn(first.data))).toEqual(new Set([adOf(alpha, 2)]));
    const rest = await on(app).get(`/v1/creatives?brand_id=${alpha.id}&limit=4&cursor=${first.meta.cursor}`, {
      key,
    });
    expect(adsIn(rest.data).toSorted()).toEqual([adOf(alpha, 0), adOf(alpha, 1), adOf(alpha, 2)]);
    expect(rest.meta.cursor).toBeUndefined();
  });
  test('returns an empty list for an unknown ad or brand', async () => {
    expect((await on(app).get(`/v1/creatives?brand_id=${UNKNOWN}`, { key })).data).toEqual([]);
    expect((await on(app).get('/v1/creatives?ad_id=123456', { key })).data).toEqual([]);
  });
});

describe('listCreatives 400', () => {
  test.each(['', `?ad_id=123456&brand_id=${UNKNOWN}`, '?ad_id=abc', '?brand_id=alpha'])(
    'rejects %j',
    async (query) => {
      expect((await on(app).get(`/v1/creatives${query}`, { key })).status).toBe(400);
    },
  );
});

describe('getCreative 200', () => {
  test('returns one file of one ad', async () => {
    const { data, meta } = await on(app).get(`/v1/creatives/${creativeOf(6, adOf(alpha, 1))}`, { key });
    expect(data).toMatchObject({ ad_id: adOf(alpha, 1), creative_key: keyOf(6), ad_active: false });
    expect(meta.as_of).toBe('2026-05-02T10:00:00.000Z');
  });
  test('returns a file that is not stored, which its record names, without an address', async () => {
    const record = await on(app).get(`/v1/creative-records/${keyOf(7)}`, { key });
    const [ad] = (record.data as { readonly ads: readonly { readonly creative_id: string }[] }).ads;
    const { data } = await on(app).get(`/v1/creatives/${ad?.creative_id}`, { key });
    expect(data).toMatchObject({ ad_id: adOf(alpha, 3), media_url: null, poster_url: null });
  });
});

describe('getCreative 404', () => {
  test('rejects an unknown one', async () => {
    expect((await on(app).get(`/v1/creatives/${UNKNOWN}`, { key })).status).toBe(404);
  });
});

describe('listAdCreatives 200', () => {
  test('lists every archived asset of an ad, and an empty list for an ad without assets', async () => {
    const { data } = await on(app).get(`/v1/ads/${adOf(alpha, 2)}/creatives`, { key });
    expect(adsIn(data)).toHaveLength(5);
    expect((await on(app).get(`/v1/ads/${adOf(beta, 0)}/creatives`, { key })).data).toEqual([]);
  });
});

describe('an ad', () => {
  const ofAd = async (adId: string) => {
    const { data } = await on(app).get(`/v1/ads/${adId}`, { key });
    const creatives = await on(app).get(`/v1/ads/${adId}/creatives`, { key });
    return { ad: data as { media: object[]; archived_media: object[] }, creatives: creatives.data };
  };
  test('is returned with its archived media', async () => {
    for (const adId of [adOf(alpha, 0), adOf(alpha, 2)]) {
      const { ad, creatives } = await ofAd(adId);
      expect(ad.archived_media).toEqual(creatives);
      expect(ad.archived_media.length).toBeGreaterThan(0);
    }
    expect((await ofAd(adOf(beta, 0))).ad.archived_media).toEqual([]);
  });
  test('names the only archived file of a media kind when it shows one file of that kind', async () => {
    const archive = (kind: string) => ({ kind, media_url: `https://media.example/${kind}`, text: '' });
    const [image, video] = [archive('image'), archive('video')];
    expect(archivedUrlOf('image', [{ kind: 'image' }, { kind: 'video' }], [video, image])).toBe(
      image.media_url,
    );
    expect(archivedUrlOf('image', [{ kind: 'image' }, { kind: 'image' }], [image])).toBe(null);
    expect(archivedUrlOf('image', [{ kind: 'image' }], [image, image])).toBe(null);
    expect(archivedUrlOf('image', [{ kind: 'image' }], [video])).toBe(null);
  });
});

type Thumbs = { brand_id: string; thumbs: { creative_key: string; image_url: string }[] }[];

describe('listBrandThumbs 200', () => {
  test('returns every requested brand with at most four live creatives, newest first', async () => {
    const ids = [UNKNOWN, beta.id, alpha.id];
    const { data } = await on(app).get(`/v1/brand-thumbs?brand_ids=${ids.join(',')}`, { key });
    const thumbs = data as Thumbs;
    expect(thumbs.map(({ brand_id }) => brand_id)).toEqual(ids.toSorted());
    expect(thumbs.find(({ brand_id }) => brand_id === UNKNOWN)?.thumbs).toEqual([]);
    expect(thumbs.find(({ brand_id }) => brand_id === beta.id)?.thumbs).toEqual([]);
    const ofAlpha = thumbs.find(({ brand_id }) => brand_id === alpha.id)?.thumbs;
    expect(ofAlpha).toHaveLength(4);
    expect(ofAlpha).toMatchObject([
      { ad_id: adOf(alpha, 2), image_url: 'https://media.example/a.jpg' },
      {},
      {},
      {},
    ]);
  });
});

describe('listBrandThumbs 400', () => {
  test.each(['', '?brand_ids=', '?brand_ids=alpha', `?brand_ids=${`${UNKNOWN},`.repeat(2)}x`])(
    'rejects %j',
    async (query) => {
      expect((await on(app).get(`/v1/brand-thumbs${query}`, { key })).status).toBe(400);
    },
  );
  test('rejects 101 brands', async () => {
    const ids = Array.from(
      { length: 101 },
      (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    );
    expect((await on(app).get(`/v1/brand-thumbs?brand_ids=${ids.join(',')}`, { key })).status).toBe(400);
  });
});

type Library = {
  sample_cap: number;
  longest_running: { id: string; days_active: number; creatives: object[] }[];
  newest: { id: string }[];
};

describe('getBrandCreativeLibrary 200', () => {
  test('samples active ads with stored media, and totals over all active ads', async () => {
    const { data, meta } = await on(app).get(`/v1/brands/${alpha.slug}/creative-library`, { key });
    const { longest_running: longest, newest, sample_cap: cap } = data as Library;
    expect(cap).toBe(20);
    expect([...longest, ...newest].map(({ id }) => id)).toEqual([adOf(alpha, 0), adOf(alpha, 2)]);
    expect(longest[0]?.days_active).toBeGreaterThanOrEqual(119);
    expect(longest[1]?.creatives).toHaveLength(4);
    expect(data).toMatchObject({
      brand: { id: alpha.id },
      totals: {
        active_ads: 3,
        with_stored_media: 2,
        formats: { video: 3, image: 0, carousel: 0, dco: 0, other: 0 },
        ctas: [{ cta_type: 'SHOP_NOW', ads: 3 }],
        longevity: { days_0_6: 2, days_7_29: 0, days_30_89: 0, days_90_plus: 1 },
      },
    });
    expect(Date.parse(meta.as_of)).toBeLessThan(Date.now());
  });
  test('limits the sample to half longest-running and half newest ads', async () => {
    const { data } = await on(app).get(`/v1/brands/${alpha.id}/creative-library?sample=2`, { key });
    const { longest_running: longest, newest } = data as Library;
    expect(longest.map(({ id }) => id)).toEqual([adOf(alpha, 0)]);
    expect(newest.map(({ id }) => id)).toEqual([adOf(alpha, 2)]);
  });
  test('returns no samples for a brand without stored media', async () => {
    const { data } = await on(app).get(`/v1/brands/${beta.id}/creative-library?sample=1`, { key });
    expect(data).toMatchObject({
      sample_cap: 1,
      longest_running: [],
      newest: [],
      totals: { active_ads: 3, with_stored_media: 0 },
    });
  });
});

describe('getBrandCreativeLibrary 400', () => {
  test.each(['sample=0', 'sample=101', 'sample=all'])('rejects %s', async (query) => {
    expect((await on(app).get(`/v1/brands/${alpha.id}/creative-library?${query}`, { key })).status).toBe(400);
  });
});
