import { describe, expect, test } from 'vitest';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { actorAd, apiPage, connection, webAd } from '../fixtures/export-shapes.ts';

const read = async (content: string | object, name = 'ads.json', options: ReadOptions = OF_BRAND) => {
  await using folder = await ExportFolder.open();
  return await reading(
    await folder.file(name, typeof content === 'string' ? content : JSON.stringify(content)),
    options,
  );
};

const withoutSnapshot = (number: number, more: object): object => {
  const { snapshot: _, ...rest } = webAd(number) as { readonly snapshot: object };
  return { ...rest, ...more };
};

describe('a record of another shape', () => {
  test.each([
    ['without a snapshot', withoutSnapshot(2, {}), 'web-graphql (missing: snapshot; unknown: '],
    [
      'with a renamed snapshot',
      withoutSnapshot(2, { creative: { body: { text: 'Warm' } } }),
      'web-graphql (missing: snapshot; unknown: ',
    ],
    [
      'with its content at the top level',
      { ad_archive_id: adId(2), page_id: '400000000000011', body: 'Warm', title: 'Socks' },
      'web-graphql (missing: snapshot; unknown: body, title)',
    ],
    [
      'with a snapshot of renamed members',
      { ad_archive_id: adId(2), snapshot: { text: 'Warm', headline: 'Socks' } },
      'web-graphql (missing: snapshot.body or snapshot.title or snapshot.link_description)',
    ],
    ['with a snapshot that is a text', { ad_archive_id: adId(2), snapshot: '{"body": 1}' }, 'web-graphql'],
  ])('is refused with its number and the nearest shape: %s', async (_, record, nearest) => {
    const { ads, refused, ends } = await read([webAd(1), record, webAd(3)]);
    expect(ads.map(({ ad_id }) => ad_id)).toEqual([adId(1), adId(3)]);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.what).toContain(
      `record 2 has an unknown shape; the nearest known shape is ${nearest}`,
    );
    expect(refused[0]?.advice).toContain('--mapping FILE');
    expect(JSON.parse(refused[0]?.raw ?? '')).toEqual(record);
    expect(ends[0]?.coverage.complete).toBe(false);
  });

  test('is counted across edges and lines', async () => {
    const edges = connection([[webAd(1), webAd(2)], [withoutSnapshot(3, {})]], false);
    expect((await read(edges)).refused[0]?.what).toContain('record 3 has');
    const lines = [webAd(1), withoutSnapshot(2, {})].map((ad) => JSON.stringify(ad)).join('\n');
    expect((await read(lines, 'ads.jsonl')).refused).toMatchObject([
      { line: 2, what: expect.stringContaining('record 2 has') },
    ]);
  });

  test('is refused in an export of an actor and of the official API', async () => {
    const { snapshot: _, ...flat } = actorAd(2) as { readonly snapshot: object };
    const actor = await read([actorAd(1), flat]);
    expect(actor.ads).toHaveLength(1);
    expect(actor.refused[0]?.what).toContain(
      'the nearest known shape is actor-camel-case (missing: snapshot',
    );
    const page = apiPage([1], false) as { readonly data: readonly object[] };
    const api = await read({ ...page, data: [...page.data, { id: adId(2), text: 'Warm' }] });
    expect(api.ads).toHaveLength(1);
    expect(api.refused[0]?.what).toContain(
      'record 2 has an unknown shape; the nearest known shape is ads-archive-json ' +
        '(missing: ad_creative_bodies or ad_creative_body or ad_creative_link_titles; unknown: text)',
    );
  });

  test('is refused when its body has its text at an unknown place, and read when the body is blank', async () => {
    const { ads, refused } = await read([
      webAd(1, {}, { body: {} }),
      webAd(2, {}, { body: { content: 'Warm', lang: 'en' } }),
    ]);
    expect(ads.map(({ ad_id, body }) => [ad_id, body])).toEqual([[adId(1), null]]);
    expect(refused[0]?.what).toBe(
      'record 2 has an unknown shape; snapshot.body has neither text nor markup (found: content, lang); ' +
        'the nearest known shape is web-graphql',
    );
  });

  test('without an ad id is refused with the nearest shape', async () => {
    const { refused } = await read([webAd(1), { ad_archive: adId(2), snapshot: { body: 'Warm' } }]);
    expect(refused[0]?.what).toContain('(missing: ad_archive_id; unknown: ad_archive)');
  });

  test('is read when only the spelling of its names differs', async () => {
    const { ads, refused } = await read([
      webAd(1),
      { ad_archive_id: adId(2), isActive: true, snapshot: { body: 'Warm', ctaText: 'Shop now' } },
    ]);
    expect(refused).toEqual([]);
    expect(ads[1]).toMatchObject({ body: 'Warm', cta_text: 'Shop now', is_active: true });
  });
});

describe('a file of another shape', () => {
  test.each([
    [
      'with renamed members',
      [{ ad_id: adId(1), page_id: '400000000000011', is_active: true, snapshot: { body: 'Warm' } }],
      'the nearest known shape is web-graphql (missing: ad_archive_id; unknown: ad_id)',
    ],
    ['without a known member', { colour: 'red' }, 'no known shape is near (found: colour)'],
    [
      'with products without variants',
      { products: [{ id: 1 }] },
      'the nearest known shape is storefront-json (missing: products[].variants)',
    ],
  ])('is refused in one line with the nearest shape: %s', async (_, content, nearest) => {
    const { observations, refused } = await read(content);
    expect(observations).toEqual([]);
    expect(refused.map(({ what }) => what)).toEqual([`has an unknown format; ${nearest}`]);
  });

  test('is refused with the nearest header', async () => {
    const { refused } = await read('id,page_id,copy\n1,2,3\n', 'ads.csv');
    expect(refused[0]?.what).toContain(
      'the nearest known shape is ads-archive-csv (missing: ad_creative_bodies or ad_creative_body or ad_creative_link_titles; unknown: copy)',
    );
    const forced = await read('id,page_id,copy\n1,2,3\n', 'ads.csv', {
      ...OF_BRAND,
      format: 'ads-archive-csv',
    });
    expect(forced.ads).toEqual([]);
    expect(forced.refused[0]?.what).toContain('missing ad_creative_bodies or ad_delivery_start_time');
  });
});
