import { describe, expect, test } from 'vitest';
import { observedAtOf } from '#contracts/observations/index.ts';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { timeInFileName } from '#services/ingest/files/file-plan.ts';
import type { FormatName } from '#services/ingest/readers/formats.ts';
import { loadMapping } from '#services/ingest/readers/formats/column-mapping.ts';
import { adId, ExportFolder, reading } from '../fixtures/export-files.ts';
import { actorAd, apiPage, webAd } from '../fixtures/export-shapes.ts';

const OPTION = '2026-03-01T08:00:00.000Z';
const OWN = '2026-03-02T08:00:00.000Z';
const NAMED = '2026-03-03T08:00:00.000Z';
const NAME_WITH_TIME = 'shop-2026-03-03T0800Z';

const MAPPINGS = {
  'mapped-csv': {
    name: 'own',
    columns: { ad_id: ['id'], scanned_at: ['scanned_at'] },
    variants: [{ collector: 'own-1', has_columns: [] }],
    complete: false,
  },
  'mapped-json': {
    name: 'own',
    fields: { ad_id: ['id'], body: ['text'], scanned_at: ['seen.scanned_at'] },
    collector: 'own-1',
    complete: false,
  },
} as const;
const csv = (columns: string, row: string, time: string | null): string =>
  time === null ? `${columns}\n${row}\n` : `${columns},scanned_at\n${row},${time}\n`;
const withTime = (value: object, time: string | null): string =>
  JSON.stringify(time === null ? value : { ...value, scanned_at: time });

const CONTENTS: {
  readonly [Format in Exclude<FormatName, 'observations' | 'taxonomy-text'>]: (time: string | null) => string;
} = {
  'web-graphql': (time) => withTime(webAd(1), time),
  'web-2024': (time) => withTime({ adArchiveID: adId(1), snapshot: { cta_text: 'x' } }, time),
  'actor-camel-case': (time) => JSON.stringify({ ...actorAd(1), ...(time !== null && { scannedAt: time }) }),
  'ads-archive-json': (time) =>
    JSON.stringify(apiPage([1], false, time === null ? {} : { scanned_at: time })),
  'web-csv': (time) => csv('ad_archive_id,snapshot.title', `${adId(1)},Warm`, time),
  'ads-archive-csv': (time) => csv('id,ad_creative_body', `${adId(1)},Warm`, time),
  'mapped-csv': (time) => csv('id', adId(1), time),
  'mapped-json': (time) =>
    JSON.stringify({ id: adId(1), text: 'Warm', seen: time === null ? {} : { scanned_at: time } }),
  'rank-list': (time) => csv('rank,domain', '1,one.example', time),
  'storefront-json': (time) =>
    withTime(
      { products: [{ id: 7, title: 'Boot', handle: 'boot', variants: [{ id: 70, price: '9' }] }] },
      time,
    ),
  'technologies-json': (time) =>
    withTime({ url: 'https://one.example/', technologies: [{ name: 'Shopify' }] }, time),
};

const timesOf = async (format: FormatName, name: string, content: string, options: ReadOptions) => {
  await using folder = await ExportFolder.open();
  const mapping =
    format === 'mapped-csv' || format === 'mapped-json'
      ? await loadMapping(await folder.file('mapping.json', JSON.stringify(MAPPINGS[format])))
      : undefined;
  const { observations, refused } = await reading(await folder.file(name, content), {
    format,
    brand: 'lumen-socks.example',
    mapping,
    ...options,
  });
  return { times: [...new Set(observations.map(observedAtOf))], refused };
};

describe.each(Object.entries(CONTENTS))('the scan time of %s', (name, content) => {
  const format = name as FormatName;

  test('is taken from the option, else from the record, else from the file name', async () => {
    const of = async (file: string, own: string | null, options: ReadOptions = {}) => {
      const { times, refused } = await timesOf(format, file, content(own), options);
      expect(refused).toEqual([]);
      return times;
    };
    expect(await of(NAME_WITH_TIME, OWN, { scannedAt: OPTION })).toEqual([OPTION]);
    expect(await of('shop', null, { scannedAt: OPTION })).toEqual([OPTION]);
    expect(await of(NAME_WITH_TIME, OWN)).toEqual([OWN]);
    expect(await of('shop', OWN)).toEqual([OWN]);
    expect(await of(NAME_WITH_TIME, null)).toEqual([NAMED]);
  });

  test('is required: a file without any is refused in one line that names the three ways', async () => {
    const { times, refused } = await timesOf(format, 'shop-2026-03-03', content(null), {});
    expect(times).toEqual([]);
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatchObject({ raw: null, record: null });
    for (const way of ['--scanned-at', 'column scanned_at', 'file name'])
      expect(refused[0]?.advice).toContain(way);
  });

  test('may lack its zone when there is an offset for it, and is else refused with its text', async () => {
    const own = '2026-03-02 13:30:00';
    const { times } = await timesOf(format, 'shop', content(own), { utcOffset: '+05:30' });
    expect(times).toEqual([OWN]);
    const without = await timesOf(format, 'shop', content(own), {});
    expect(without.times).toEqual([]);
    expect(without.refused[0]).toMatchObject({
      what: `"${own}" is not a timestamp with a time zone`,
      advice: expect.stringContaining('--utc-offset'),
    });
  });
});

test('a taxonomy has its time from the option, else from its header, else from the file name', async () => {
  const line = '1 - Apparel\n';
  const dated = `# Shop_Taxonomy_Version: 2025-09-21\n${line}`;
  const of = async (name: string, content: string, options: ReadOptions = {}) =>
    (await timesOf('taxonomy-text', name, content, options)).times;
  expect(await of(NAME_WITH_TIME, dated, { scannedAt: OPTION })).toEqual([OPTION]);
  expect(await of(NAME_WITH_TIME, dated)).toEqual(['2025-09-21T00:00:00.000Z']);
  expect(await of(NAME_WITH_TIME, line)).toEqual([NAMED]);
});

test('records with and without a time: only those without one are refused, each with its number', async () => {
  const ads = [webAd(1), webAd(2, { scraped_at: OWN }), webAd(3)];
  const { times, refused } = await timesOf('web-graphql', 'shop', JSON.stringify(ads), {});
  expect(times).toEqual([OWN]);
  expect(refused).toMatchObject([
    { adId: adId(1), record: 1 },
    { adId: adId(3), record: 3 },
  ]);
  const sites = ['one', 'two', 'three'].map((name, at) => ({
    url: `https://${name}.example/`,
    technologies: [],
    ...(at === 1 && { scanned_at: OWN }),
  }));
  const side = await timesOf('technologies-json', 'sites', JSON.stringify(sites), { brand: undefined });
  expect(side.times).toEqual([OWN]);
  expect(side.refused).toMatchObject([{ record: 1 }, { record: 3 }]);
});

test('times of records may be Unix times, in seconds or milliseconds', async () => {
  for (const scanned_at of [1_772_438_400, 1_772_438_400_000, '1772438400']) {
    const ads = JSON.stringify([webAd(1, { scanned_at })]);
    expect((await timesOf('web-graphql', 'shop', ads, {})).times).toEqual([OWN]);
    const records = JSON.stringify([{ id: adId(1), text: 'Warm', seen: { scanned_at } }]);
    expect((await timesOf('mapped-json', 'shop', records, {})).times).toEqual([OWN]);
  }
});

test.each([
  ['shop-2026-03-03T0800Z.json', NAMED],
  ['shop_2026-03-03T08-00-00Z.json.gz', NAMED],
  ['20260303T080000Z.csv', NAMED],
  ['20260303_0800Z.csv', NAMED],
  ['shop 2026-03-03 08.00.00+0000.csv', NAMED],
  ['shop-2026-03-03T1330+0530.csv', NAMED],
  ['shop-2026-03-03-0300-0500.csv', NAMED],
  ['shop-2026-03-03-0800.csv', null],
  ['shop-2026-03-03.csv', null],
  ['shop-2026-13-03T0800Z.csv', null],
  ['7100000000000014.json', null],
  ['folder-2026-03-03T0800Z/shop.json', null],
])('the time in the file name %s is %s', (name, expected) => {
  expect(timeInFileName(`/exports/${name}`, null)).toBe(expected);
});

test('a time without zone in a file name is read with the offset', () => {
  expect(timeInFileName('shop-2026-03-03-1330.csv', '+05:30')).toBe(NAMED);
  expect(timeInFileName('shop-2026-03-03.csv', '+05:30')).toBeNull();
});
