import { describe, expect, test } from 'vitest';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { actorAd, answerOf2024, apiPage, webAd } from '../fixtures/export-shapes.ts';

const read = async (content: string | object, name = 'ads.json') => {
  await using folder = await ExportFolder.open();
  return await reading(
    await folder.file(name, typeof content === 'string' ? content : JSON.stringify(content)),
    OF_BRAND,
  );
};

/** Fault of the second record; the first must be read. */
const faultOf = async (first: object, second: object): Promise<string | undefined> => {
  const { ads, refused, ends } = await read([first, second]);
  expect(ads.map(({ ad_id }) => ad_id)).toEqual([adId(1)]);
  expect(refused).toHaveLength(1);
  expect(refused[0]).toMatchObject({ adId: adId(2), advice: expect.stringContaining('--mapping FILE') });
  expect(JSON.parse(refused[0]?.raw ?? '')).toEqual(second);
  expect(ends[0]?.coverage.complete).toBe(false);
  return refused[0]?.what;
};

describe('a web ad', () => {
  test.each([
    [
      { title: { text: 'Socks' }, body: { markup: { html: 'Warm' } } },
      'snapshot.body.markup has no __html (found: html)',
    ],
    [{ title: { text: 'Socks' } }, 'snapshot.title is an object, but a text is expected'],
    [{ body: ['Warm'] }, 'snapshot.body is a list, but a text is expected'],
    [{ body: { text: { en: 'Warm' } } }, 'snapshot.body.text is an object, but a text is expected'],
    [
      { body: { content: 'Warm', lang: 'en' } },
      'snapshot.body has neither text nor markup (found: content, lang)',
    ],
    [
      { body: 'Warm', link_url: ['https://a.example'] },
      'snapshot.link_url is a list, but a text is expected',
    ],
    [{ title: 2_024 }, 'snapshot.title is a number, but a text is expected'],
    [{ body: 'Warm', cards: { title: 'One' } }, 'snapshot.cards is an object, but a list is expected'],
    [
      { body: 'Warm', cards: [{ body: 'a' }, { text: 'b' }] },
      'snapshot.cards[1] has no known member (found: text)',
    ],
    [{ cards: [{ body: ['a'] }] }, 'snapshot.cards[0].body is a list, but a text is expected'],
    [
      { body: 'Warm', images: ['https://cdn.example/a.jpg'] },
      'snapshot.images[0] is a text, but an object is expected',
    ],
    [
      { body: 'Warm', videos: [{ url: 'https://cdn.example/a.mp4' }] },
      'snapshot.videos[0] has no known member (found: url)',
    ],
  ])('with a known member of another shape is refused: %j', async (snapshot, fault) => {
    expect(await faultOf(webAd(1), { ad_archive_id: adId(2), snapshot })).toBe(
      `record 2 has an unknown shape; ${fault}; the nearest known shape is web-graphql`,
    );
  });

  test.each([
    [{ cards: [], images: [], videos: [], creative: { text: 'Warm' } }, 'snapshot.creative'],
    [{ display_format: 'DPA', ad_text: 'Warm' }, 'snapshot.ad_text'],
    [
      { caption: 'a.example', cta_text: 'Shop now', headline: 'Socks', primary_text: 'Warm' },
      'snapshot.headline, snapshot.primary_text',
    ],
    [{ body: { text: ' ' }, texts: [{ value: 'Warm' }] }, 'snapshot.texts'],
    [{ display_format: 'IMAGE', image_url: 'https://cdn.example/a.jpg' }, 'snapshot.image_url'],
  ])('without a text is refused when an unknown member has its content: %j', async (snapshot, names) => {
    expect(await faultOf(webAd(1), { ad_archive_id: adId(2), snapshot })).toBe(
      `record 2 has an unknown shape; no text of the ad is at a known place, but content is in ${names}; ` +
        'the nearest known shape is web-graphql',
    );
  });

  test('without a text is refused when its content is outside of the snapshot', async () => {
    const second = { ad_archive_id: adId(2), snapshot: { display_format: 'IMAGE' }, ad_text: 'Warm' };
    expect(await faultOf(webAd(1), second)).toContain('content is in ad_text;');
    const actor = { adArchiveID: adId(2), snapshot: { displayFormat: 'IMAGE', adText: 'Warm' } };
    expect(await faultOf(actorAd(1), actor)).toContain('snapshot.ad_text; the nearest known shape is actor-');
  });

  test.each([
    ['with media only', { images: [{ original_image_url: 'https://cdn.example/a.jpg', image_crops: [] }] }],
    ['with a template', { display_format: 'DPA', body: { text: '{{product.brand}}' } }],
    [
      'with unread members of the library',
      {
        caption: 'a.example',
        ad_creative_id: '120204523543400150',
        extra_texts: [{ text: 'Terms' }],
        branded_content: { page_name: 'A Page' },
        page_name: 'A Page',
        page_profile_picture_url: 'https://cdn.example/p.jpg',
        disclaimer_label: 'Paid',
      },
    ],
    ['with a blank body', { body: { markup: { __html: '' }, context: {}, callerHash: 'f56557' } }],
    [
      'with blank members',
      { title: [], body: {}, cards: [{}], images: null, videos: [{ video_hd_url: null }] },
    ],
    ['with a body, and texts of its collector', { body: 'Warm', ad_text: 'Warm', texts: ['Warm'] }],
  ])('%s is read', async (_, snapshot) => {
    const { ads, refused } = await read([{ ad_archive_id: adId(1), is_active: true, snapshot }]);
    expect(refused).toEqual([]);
    expect(ads).toHaveLength(1);
  });

  test('of 2024 is read with a body of blank markup', async () => {
    const page = answerOf2024('', [adId(1)]).replace('Soft &amp; warm<br />for <b>winter</b>', '');
    expect((await read(page)).refused).toEqual([]);
  });
});

describe('an ad of the official API', () => {
  const page = (more: object): object => {
    const { data } = apiPage([1], false) as { readonly data: readonly object[] };
    return [...data, { id: adId(2), ad_snapshot_url: 'https://library.example/', ...more }];
  };

  test.each([
    [{ body: 'Warm' }, 'no text of the ad is at a known place, but content is in body'],
    [
      { ad_creative_bodies: [{ text: 'Warm' }] },
      'ad_creative_bodies[0] is an object, but a text is expected',
    ],
    [{ ad_creative_body: { text: 'Warm' } }, 'ad_creative_body is an object, but texts are expected'],
  ])('with its text at another place is refused: %j', async (more, fault) => {
    const { ads, refused } = await read(page(more));
    expect(ads.map(({ ad_id }) => ad_id)).toEqual([adId(1)]);
    expect(refused.map(({ what }) => what)).toEqual([
      `record 2 has an unknown shape; ${fault}; the nearest known shape is ads-archive-json`,
    ]);
  });

  test('without any text is read', async () => {
    const { ads, refused } = await read(page({ ad_creative_bodies: [], page_name: 'A Page', bylines: 'Me' }));
    expect(refused).toEqual([]);
    expect(ads).toHaveLength(2);
  });

  test('in CSV is refused when an unknown column has its text', async () => {
    const csv = `id,ad_delivery_start_time,ad_creative_bodies,copy\n${adId(1)},2026-01-01,Warm,\n${adId(2)},2026-01-01,,Warm\n`;
    const { ads, refused } = await read(csv, 'ads.csv');
    expect(ads.map(({ ad_id }) => ad_id)).toEqual([adId(1)]);
    expect(refused.map(({ what }) => what)).toEqual([
      'has an unknown shape; no text of the ad is at a known place, but content is in copy; the nearest known shape is ads-archive-csv',
    ]);
  });
});
