import { describe, expect, test } from 'vitest';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import {
  actorAd,
  actorPageWithoutAds,
  answerOf2024,
  apiPage,
  connection,
  webAd,
} from '../fixtures/export-shapes.ts';

const read = async (content: string | object, name = 'export.json', options = OF_BRAND) => {
  await using folder = await ExportFolder.open();
  return await reading(
    await folder.file(name, typeof content === 'string' ? content : JSON.stringify(content)),
    options,
  );
};

const FORBIDDEN = /spend|reach|impression|currency|secret|100-200|12345/;

describe('the web format', () => {
  test('is read from its envelope, with several ads per edge', async () => {
    const { ads, ends, refused } = await read(connection([[webAd(1), webAd(2)], [webAd(3)]], false));
    expect(refused).toEqual([]);
    expect(ads.map(({ ad_id }) => ad_id)).toEqual([adId(1), adId(2), adId(3)]);
    expect(ads[0]).toEqual({
      ad_id: adId(1),
      page_id: '400000000000011',
      page_name: 'Lumen Socks',
      is_active: true,
      started_on: '2026-01-01',
      stopped_on: null,
      body: 'Warm feet 1',
      title: 'Socks',
      link_description: null,
      caption: 'lumen-socks.example',
      cta_type: 'SHOP_NOW',
      cta_text: 'Shop now',
      link_url: 'https://lumen-socks.example/?utm_content={{ad.id}}',
      format: 'video',
      platforms: ['facebook', 'instagram'],
      languages: null,
      media: [{ kind: 'video', url: 'https://cdn.example/a.mp4', poster_url: 'https://cdn.example/a.jpg' }],
      cards: [],
      versions: [],
    });
    expect(ends[0]?.coverage).toEqual({
      pages: [{ page_id: '400000000000011', page_name: 'Lumen Socks' }],
      countries: ['ALL'],
      complete: true,
      collector: 'library-web',
    });
  });

  test('is read as bare edges and as a flat list', async () => {
    const edges = [{ node: { collated_results: [webAd(1)] } }, { node: { collated_results: [webAd(2)] } }];
    expect((await read(edges)).ads).toHaveLength(2);
    expect((await read({ edges })).ads).toHaveLength(2);
    expect((await read([webAd(1), webAd(2)])).ads).toHaveLength(2);
  });

  test('uses the end date as stop date only for inactive ads', async () => {
    const { ads } = await read([webAd(1), webAd(2, { is_active: false })]);
    expect(ads.map(({ stopped_on }) => stopped_on)).toEqual([null, '2026-03-02']);
  });

  test('is complete only by its own claim, and never for a search over several social pages', async () => {
    const complete = async (value: object) => (await read(value)).ends[0]?.coverage.complete;
    expect(await complete(connection([[webAd(1)]], false))).toBe(true);
    expect(await complete(connection([[webAd(1)]], true))).toBe(false);
    expect(await complete([webAd(1)])).toBe(false);
    expect(await complete(connection([[webAd(1)], [webAd(2, { page_id: '400000000000022' })]], false))).toBe(
      false,
    );
  });

  test('is complete when the caller declares it, unless the file contradicts', async () => {
    const declared = { ...OF_BRAND, complete: true };
    const several = [webAd(1), webAd(2, { page_id: '400000000000022' })];
    expect((await read(several, 'a.json', declared)).ends[0]?.coverage.complete).toBe(true);
    expect((await read(connection([[webAd(1)]], true), 'a.json', declared)).ends[0]?.coverage.complete).toBe(
      false,
    );
  });
});

describe('the export of a scraping actor', () => {
  test('is read with flattened members restored', async () => {
    const { ads, refused } = await read([actorAd(1), actorAd(2)]);
    expect(refused).toEqual([]);
    expect(ads[0]).toMatchObject({ ad_id: adId(1), format: 'dco', cta_text: 'Learn more', stopped_on: null });
    expect(ads[0]?.cards).toEqual([
      {
        body: 'First',
        title: 'One',
        link_description: null,
        cta_text: 'Learn more',
        link_url: 'https://lumen-socks.example/1',
      },
      { body: 'Second', title: 'Two', link_description: null, cta_text: null, link_url: null },
    ]);
    expect(ads[0]?.media).toEqual([{ kind: 'image', url: 'https://cdn.example/2.jpg', poster_url: null }]);
  });

  test('covers a social page without ads', async () => {
    const { ends } = await read([actorPageWithoutAds('400000000000033'), actorAd(1), actorAd(2)]);
    expect(ends[0]?.coverage).toMatchObject({
      complete: true,
      pages: [{ page_id: '400000000000033', page_name: 'Quiet Page' }, { page_id: '400000000000011' }],
    });
    const alone = await read([actorPageWithoutAds('400000000000033')]);
    expect(alone.ends[0]).toMatchObject({ chunks: 0, coverage: { complete: true } });
  });

  test('is complete only when the number of ads equals its total', async () => {
    expect((await read([actorAd(1), actorAd(2)])).ends[0]?.coverage.complete).toBe(true);
    expect((await read([actorAd(1)])).ends[0]?.coverage.complete).toBe(false);
  });
});

describe('the web format of 2024', () => {
  const ids = ['18014398509481985', '"7100000000000019"'];

  test('is read with exact ids, flattened groups, and HTML as text', async () => {
    const { ads, ends, refused } = await read(
      answerOf2024('"page_id": "400000000000011", "country_code": "DE", ', ids),
    );
    expect(refused).toEqual([]);
    expect(ads.map(({ ad_id }) => ad_id)).toEqual(['18014398509481985', '7100000000000019']);
    expect(ads[0]).toMatchObject({
      body: 'Soft & warm\nfor winter',
      format: 'carousel',
      started_on: '2024-01-09',
    });
    expect(ads[0]?.cards).toMatchObject([{ body: null, title: 'One' }]);
    expect(ends[0]?.coverage).toMatchObject({
      complete: true,
      countries: ['DE'],
      collector: 'library-web-2024',
    });
  });

  test('is not complete for a search for words', async () => {
    const { ends } = await read(`for (;;);${answerOf2024('"query": "socks", ', ids)}`);
    expect(ends[0]?.coverage.complete).toBe(false);
  });
});

describe('the official API', () => {
  test('is read from result pages, from a list and from JSON lines', async () => {
    const pages = [apiPage([1, 2], true), apiPage([3], false)];
    const asPages = await read(pages);
    expect(asPages.ads[0]).toMatchObject({
      ad_id: adId(1),
      is_active: null,
      started_on: '2026-01-01',
      stopped_on: null,
      body: 'Warm feet',
      link_url: null,
      cta_text: null,
      format: null,
      languages: ['en'],
      platforms: ['facebook', 'instagram'],
      versions: [
        { body: 'Warm feet', title: 'Socks' },
        { body: 'Warmer feet', title: null },
      ],
    });
    expect(asPages.ends[0]?.coverage.complete).toBe(true);
    const asLines = await read(pages.map((page) => JSON.stringify(page)).join('\n'));
    expect(asLines.ads).toEqual(asPages.ads);
    const asList = await read((apiPage([1, 2, 3], false) as { data: object[] }).data);
    expect(asList.ads).toEqual(asPages.ads);
    expect(asList.ends[0]?.coverage.complete).toBe(false);
  });

  test('is not complete while there is a next page', async () => {
    expect((await read(apiPage([1], true))).ends[0]?.coverage.complete).toBe(false);
  });

  test('is read from CSV with the new field names and lists in Python notation', async () => {
    const { ads, refused } = await read(
      `,id,ad_delivery_start_time,ad_delivery_stop_time,ad_creative_bodies,ad_creative_link_titles,publisher_platforms,page_id,page_name,spend.lower_bound
0,${adId(1)},2026-01-01,999,"['It\\'s warm, soft\\n\\xe9t\\xe9']",,"['instagram', 'facebook']",400000000000011,Lumen Socks,100
1,${adId(2)},2026-01-01,2026-02-01,"[""Feet's friend"", 'Two']",,[],400000000000011,Lumen Socks,100
`,
      'export.csv',
    );
    expect(refused).toEqual([]);
    expect(ads[0]).toMatchObject({
      body: "It's warm, soft\nété",
      stopped_on: null,
      platforms: ['facebook', 'instagram'],
    });
    expect(ads[1]).toMatchObject({ body: "Feet's friend", stopped_on: '2026-02-01', platforms: null });
    expect(ads[1]?.versions).toHaveLength(2);
  });

  test('is read from CSV with the old field names', async () => {
    const { ads } = await read(
      `ad_id,page_id,page_name,ad_creative_body,ad_creative_link_caption,ad_delivery_start_time,ad_delivery_stop_time,spend_min
${adId(1)},400000000000011,Lumen Socks,"Warm, soft [new]",lumen-socks.example,2019-10-30T22:24:19+0000,,0
`,
      'export.csv.gz',
    );
    expect(ads[0]).toMatchObject({ body: 'Warm, soft [new]', started_on: '2019-10-30', stopped_on: null });
  });
});

test('no observation contains spend or reach', async () => {
  for (const content of [[webAd(1)], apiPage([1], false), [actorAd(1)]]) {
    expect(JSON.stringify((await read(content)).observations)).not.toMatch(FORBIDDEN);
  }
});

test('the scan id depends on the ads, not on their order', async () => {
  const scanId = async (numbers: readonly number[]) =>
    (await read(numbers.map((number) => webAd(number)))).ends[0]?.scan_id;
  expect(await scanId([1, 2, 3])).toBe(await scanId([3, 1, 2]));
  expect(await scanId([1, 2, 3])).not.toBe(await scanId([1, 2, 4]));
});

test('a long scan is split into chunks, and its end has their number', async () => {
  const { observations, ends, ads } = await read(Array.from({ length: 600 }, (_, at) => webAd(at)));
  expect(ads).toHaveLength(600);
  expect(observations.map(({ type }) => type)).toEqual([
    ...Array(3).fill('ad_library.scan'),
    'ad_library.scan_end',
  ]);
  expect(ends[0]?.chunks).toBe(3);
});

test('an ad that occurs twice is read once', async () => {
  expect((await read([webAd(1), webAd(2), webAd(1)])).ads).toHaveLength(2);
});

test('a file of observations is read unchanged', async () => {
  const { observations } = await read([webAd(1)]);
  const again = await read(
    observations.map((one) => JSON.stringify(one)).join('\n'),
    'observations.jsonl',
    {},
  );
  expect(again.observations).toEqual(observations);
});
