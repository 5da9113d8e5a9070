import { describe, expect, test } from 'vitest';
import { loadMapping } from '#services/ingest/readers/formats/column-mapping.ts';
import { answerOf2024, webAd } from '../../fixtures/export-shapes.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../../fixtures/export-files.ts';

const COLUMNS = ['id', 'page_id', 'page_name', 'ad_delivery_start_time', 'ad_delivery_stop_time'];
const TEXTS = ['ad_creative_bodies', 'ad_creative_link_titles', 'publisher_platforms', 'languages'];
type Cells = { readonly [column: string]: string };

const readRows = async (rows: readonly Cells[]) => {
  const columns = [...COLUMNS, ...TEXTS];
  const lines = rows.map((row, at) =>
    columns
      .map(
        (name) =>
          ({ id: adId(at), page_id: '400000000000011', ad_creative_bodies: 'Warm', ...row })[name] ?? '',
      )
      .map((cell) => `"${cell.replaceAll('"', '""')}"`)
      .join(','),
  );
  await using folder = await ExportFolder.open();
  return await reading(await folder.file('a.csv', [columns.join(','), ...lines].join('\n')));
};
const readWeb = async (...ads: readonly object[]) => {
  await using folder = await ExportFolder.open();
  return await reading(await folder.file('a.json', JSON.stringify(ads)));
};

describe('platforms and languages', () => {
  test.each([
    'facebook;instagram',
    'FACEBOOK|INSTAGRAM',
    'Facebook, Instagram',
    'instagram\nfacebook',
    "['facebook', 'instagram']",
    "('instagram', 'facebook')",
    "{'facebook', 'instagram', nan}",
    '{facebook,instagram}',
    'c("facebook", "instagram")',
    "['facebook' 'instagram']",
    '[""facebook"", ""instagram""]',
    String.raw`[\"facebook\", \"instagram\"]`,
    '["facebook;instagram"]',
    '[facebook, instagram]',
    '"facebook","instagram"',
    'facebook;instagram;facebook;NaN',
  ])('are read from %j', async (publisher_platforms) => {
    const { ads, refused } = await readRows([{ publisher_platforms }]);
    expect(refused).toEqual([]);
    expect(ads[0]?.platforms).toEqual(['facebook', 'instagram']);
  });

  test.each([
    ['en;de', ['en', 'de']],
    ['en_US|German', ['en', 'de']],
    ["['en', 'en_GB', None]", ['en']],
    ['{EN,NULL}', ['en']],
    ['iw;in;ji_XX', ['he', 'id', 'yi']],
    ['he;iw', ['he']],
    ['nan', null],
  ])('are read from %j: %j', async (languages, codes) => {
    expect((await readRows([{ languages }])).ads[0]?.languages).toEqual(codes);
  });

  test('that are no codes refuse their record', async () => {
    const { ads, refused } = await readRows([
      { publisher_platforms: 'facebook;billboard' },
      { languages: 'en;qqq' },
      {},
    ]);
    expect(ads.map(({ ad_id }) => ad_id)).toEqual([adId(2)]);
    expect(refused.map(({ what }) => what)).toEqual([
      '"billboard" is not a platform',
      '"qqq" is not a language',
    ]);
  });

  test('that are objects or numbers refuse their record, unless they are empty', async () => {
    const platforms = [[{ name: 'facebook' }], { facebook: true }, [1], ['facebook', null, {}], {}, null];
    const { ads, refused } = await readWeb(
      ...platforms.map((publisher_platform, at) => webAd(at, { publisher_platform })),
    );
    expect(ads.map((ad) => ad.platforms)).toEqual([['facebook'], null, null]);
    expect(refused.map(({ what }) => what)).toEqual([
      String.raw`"{\"name\":\"facebook\"}" is not a platform`,
      String.raw`"{\"facebook\":true}" is not a platform`,
      '"1" is not a platform',
    ]);
  });

  test('that are only counted are unknown, with a note', async () => {
    const { ads, notes } = await readRows([{ publisher_platforms: '4 platforms' }]);
    expect(ads[0]?.platforms).toBeNull();
    expect(notes).toEqual(['platforms are only counted']);
  });
});

describe('texts', () => {
  test.each([
    'Warm; soft',
    'Warm | soft',
    'One, two',
    '[Sale] 50 %',
    '{{product.brand}}',
    '(“Best”, they say)',
    '{a,b}',
    '("Best ever")',
    '[5]',
    '["Best ever" they say]',
  ])('are not taken for lists: %j', async (ad_creative_bodies) => {
    const { ads } = await readRows([{ ad_creative_bodies }]);
    expect(ads[0]).toMatchObject({ body: ad_creative_bodies, versions: [] });
  });

  test.each([
    `{"Warm; feet","Soft | feet"}`,
    `c("Warm; feet", "Soft | feet")`,
    `('Warm; feet', 'Soft | feet')`,
  ])('are read as versions from a list that is certain: %s', async (ad_creative_bodies) => {
    const { ads } = await readRows([{ ad_creative_bodies }]);
    expect(ads[0]?.body).toBe('Warm; feet');
    expect(ads[0]?.versions.map(({ body }) => body)).toEqual(['Warm; feet', 'Soft | feet']);
  });
});

test.each(['#NAME?', '#WERT!', '#DIV/0!', '[object Object]', '<chr [2]>'])(
  'a text that a program wrote in place of a value refuses its record: %s',
  async (ad_creative_bodies) => {
    const { ads, refused } = await readRows([
      { ad_creative_bodies },
      { ad_creative_bodies: '#NAME? or #REF!' },
    ]);
    expect(ads.map(({ body }) => body)).toEqual(['#NAME? or #REF!']);
    expect(refused[0]?.what).toContain(ad_creative_bodies);
  },
);

test('a value in a list of one, or in an object of MongoDB, is read; another list or object refuses its record', async () => {
  const { ads, refused } = await readWeb(
    webAd(1, {
      page_id: { $numberLong: '400000000000011' },
      start_date: { $date: '2026-01-01T08:00:00Z' },
      is_active: [true],
    }),
    webAd(2, { start_date: { year: 2026, month: 1 } }),
    webAd(3, { page_id: ['400000000000011', '400000000000012'] }),
    webAd(4, { start_date: {}, is_active: [] }),
  );
  expect(ads).toMatchObject([
    { page_id: '400000000000011', started_on: '2026-01-01', is_active: true },
    { ad_id: adId(4), started_on: null, is_active: null },
  ]);
  expect(refused.map(({ what }) => what)).toEqual([
    'start_date is an object, but a single value is expected',
    'page_id is a list, but a single value is expected',
  ]);
});

test.each([
  '[{"text": "Warm"}]',
  "[{'text': 'Warm'}]",
  '{"text": "Warm"}',
  '[["Warm", "Soft"]]',
  '["Warm", 5]',
])('a text that is a list of other things than texts refuses its record: %s', async (ad_creative_bodies) => {
  const { ads, refused } = await readRows([{ ad_creative_bodies }]);
  expect(ads).toEqual([]);
  expect(refused[0]?.what).toContain('is JSON, but no list of texts');
});

describe('a blank', () => {
  test.each([
    'NaN',
    'nan',
    'None',
    'NULL',
    'null',
    'NA',
    'N/A',
    '<NA>',
    'NaT',
    'undefined',
    '(null)',
    'NA_character_',
    'character(0)',
    '#NV',
    '-',
    '\\N',
    ' ',
    '[]',
    '[nan]',
    '{NULL}',
  ])('of a data frame is none in every field: %j', async (blank) => {
    const cells = Object.fromEntries([...COLUMNS.slice(1), ...TEXTS].map((name) => [name, blank]));
    const isList = /^[[{]/.test(blank);
    const dates = isList
      ? { page_id: '', page_name: '', ad_delivery_start_time: '', ad_delivery_stop_time: '' }
      : {};
    const { ads, refused, notes } = await readRows([{ ...cells, ...dates }]);
    expect(refused).toEqual([]);
    expect(notes).toEqual([]);
    expect(ads[0]).toMatchObject({
      page_id: null,
      page_name: null,
      started_on: null,
      stopped_on: null,
      body: null,
      title: null,
      platforms: null,
      languages: null,
      versions: [],
    });
  });

  test.each(['Nan loves it', 'None of the above', '- 50 %', 'N/A? Not here', 'null and void'])(
    'is no part of a text: %j',
    async (ad_creative_bodies) => {
      expect((await readRows([{ ad_creative_bodies }])).ads[0]?.body).toBe(ad_creative_bodies);
    },
  );
});

describe('countries', () => {
  const MAPPING = {
    name: 'own',
    fields: { ad_id: ['id'], body: ['text'], countries: ['where'] },
    collector: 'own',
    complete: false,
  };
  const readMapped = async (where: unknown) => {
    await using folder = await ExportFolder.open();
    const mapping = await loadMapping(await folder.file('mapping.json', JSON.stringify(MAPPING)));
    const content = JSON.stringify([{ id: adId(1), text: 'Warm', where }]);
    return await reading(await folder.file('a.json', content), { ...OF_BRAND, mapping });
  };

  test.each([
    ['DE;FR', ['DE', 'FR']],
    [
      ['de', 'uk'],
      ['DE', 'GB'],
    ],
    ['Germany', ['DE']],
    // Namibia, no blank.
    ['NA', ['NA']],
    ['{NA,ZA}', ['NA', 'ZA']],
    ['nan', ['ALL']],
    ['all', ['ALL']],
  ])('of a scan are read from %j: %j', async (where, countries) => {
    expect((await readMapped(where)).ends[0]?.coverage.countries).toEqual(countries);
  });

  test('that are no codes refuse their record, also in the envelope of 2024', async () => {
    expect((await readMapped('Atlantis')).refused).toMatchObject([{ what: '"Atlantis" is not a country' }]);
    await using folder = await ExportFolder.open();
    const answer = answerOf2024('"page_id": "400000000000011", "country_code": "Atlantis", ', [
      `"${adId(1)}"`,
    ]);
    const { ends, refused } = await reading(await folder.file('a.json', answer));
    expect(ends).toEqual([]);
    expect(refused[0]?.what).toBe('"Atlantis" is not a country');
  });
});

test('a format or a call to action that has not the form of a code is unknown, with a note', async () => {
  const { ads, notes } = await readWeb(
    webAd(1, {}, { cta_type: 'https://shop.example/', display_format: '12' }),
    webAd(2, {}, { cta_type: 'Shop now', cta_text: 'LEARN_MORE', display_format: 'Multi images' }),
    webAd(3, {}, { cta_type: 'nan', display_format: 'NaN' }),
  );
  expect(ads.map(({ cta_type, cta_text, format }) => [cta_type, cta_text, format])).toEqual([
    [null, 'Shop now', null],
    ['SHOP_NOW', 'Learn more', 'other'],
    [null, 'Shop now', null],
  ]);
  expect(notes).toEqual(['cta_type is not a code', 'format is not a code']);
});
