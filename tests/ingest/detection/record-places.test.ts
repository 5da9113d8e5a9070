import { omit } from 'es-toolkit/object/omit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { JsonScanner } from '#services/ingest/readers/parsing/json-records.ts';
import { placesOf } from '#services/ingest/readers/shapes/record-format.ts';
import { runs } from '#tests/property-seed.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { actorAd, apiPage, webAd } from '../fixtures/export-shapes.ts';

const read = async (content: string | object, options: ReadOptions = OF_BRAND) => {
  await using folder = await ExportFolder.open();
  return await reading(
    await folder.file('reply.json', typeof content === 'string' ? content : JSON.stringify(content)),
    options,
  );
};
const idsOf = async (content: string | object) => {
  const { ads, refused } = await read(content);
  return { ids: ads.map(({ ad_id }) => ad_id), refused: refused.map(({ what }) => what) };
};
const [archiveAd] = (apiPage([1], false) as { readonly data: readonly object[] }).data;
const unkeyed = (ad: object): object => omit(ad as { ad_archive_id: string }, ['ad_archive_id']);
const META = { search_metadata: { id: 'a', status: 'Success' }, pagination: { next_page_token: 'b' } };
const ADS = [webAd(1), webAd(2)];
const IDS = { ids: [adId(1), adId(2)], refused: [] };

describe('records are read', () => {
  test.each([
    ['under ads', { ...META, ads: ADS, total: 2 }],
    ['under searchResults', { success: true, searchResults: ADS, cursor: 'c' }],
    ['under items, with other objects before and after', { errors: [], items: ADS, paging: { after: 'c' } }],
    ['nested in lists and objects', { response: { pages: [{ meta: { n: 1 }, found: [ADS] }] } }],
    [
      'of several pages',
      {
        results: [
          { page: 'a', ads: ADS.slice(0, 1) },
          { page: 'b', ads: ADS.slice(1) },
        ],
      },
    ],
    ['under names with dots', { 'a.example': { ads: ADS.slice(0, 1) }, 'b.example': { ads: ADS.slice(1) } }],
    ['under two members', { active: ADS.slice(0, 1), inactive: ADS.slice(1) }],
    ['as members of an object', { [adId(1)]: webAd(1), [adId(2)]: webAd(2) }],
    [
      'as members of an object by their ids alone',
      { ads: { [adId(1)]: unkeyed(webAd(1)), [adId(2)]: unkeyed(webAd(2)) } },
    ],
    [
      'as members of an object with other members',
      { count: 2, by_id: { first: webAd(1), second: webAd(2) } },
    ],
    [
      'each alone in an envelope, one per line',
      `{"ad": ${JSON.stringify(webAd(1))}}\n{"ad": ${JSON.stringify(webAd(2))}}`,
    ],
    ['in a list of lists', [[webAd(1)], [webAd(2)]]],
    ['under a name beyond ASCII', { größe: 2, einträge: ADS }],
  ])('%s', async (_, content) => {
    expect(await idsOf(content)).toEqual(IDS);
    expect(await idsOf(JSON.stringify(content, null, 1).replace(/^"|"$/g, ''))).toEqual(
      typeof content === 'string' ? expect.anything() : IDS,
    );
  });

  test('of every JSON format, from any member and alone', async () => {
    const OBSERVATION = {
      type: 'category.define',
      observed_at: '2026-03-02T08:00:00Z',
      path: ['A'],
      level: null,
      taxonomy: null,
      taxonomy_id: null,
      description: null,
    };
    const SITE = { url: 'https://shop.example/', technologies: [{ name: 'Tool' }] };
    for (const record of [webAd(1), actorAd(1), archiveAd, OBSERVATION, SITE]) {
      for (const content of [record, [record], { body: { list: [record] } }, { entry: record }]) {
        const { observations, refused } = await read(content as object);
        expect(refused).toEqual([]);
        expect(observations.length).toBeGreaterThan(0);
      }
    }
  });

  test('with one record that is refused, by its line and number', async () => {
    const bad = { ad_archive_id: adId(2), creative: {} };
    const text = JSON.stringify({ ...META, ads: [webAd(1), bad, webAd(3)] }, null, 1);
    const { ads, refused } = await read(text);
    expect(ads).toHaveLength(2);
    const line = text.slice(0, text.indexOf('"creative"')).split('\n').length - 2;
    expect(refused).toMatchObject([{ record: 2, line, what: expect.stringContaining('record 2 has') }]);
  });

  test('of an envelope that exceeds the limit of a record, and of one that breaks off', async () => {
    const many = Array.from({ length: 400 }, (_, at) => webAd(at + 1, {}, { title: 'x'.repeat(12_000) }));
    const whole = await idsOf({ ...META, ads: many, after: { n: 1 } });
    expect(whole).toMatchObject({ refused: [] });
    expect(whole.ids).toHaveLength(400);
    const cut = await read(JSON.stringify({ ...META, ads: ADS }).slice(0, -120));
    expect(cut.ads).toHaveLength(1);
    expect(cut.refused.map(({ what }) => what)).toEqual([
      expect.stringContaining('is not closed'),
      expect.stringContaining('the file ends before its list is closed'),
    ]);
    const unindented = await idsOf(
      `{"ads": [\n${many
        .slice(0, 40)
        .map((ad) => JSON.stringify(ad))
        .join(',\n')}\n]}`,
    );
    expect(unindented).toMatchObject({ refused: [] });
    expect(unindented.ids).toHaveLength(40);
  });

  test('of a page after an empty one', async () => {
    const pages = [
      { ads: [], cursor: 'a' },
      { ads: ADS, cursor: null },
    ];
    expect((await idsOf(pages)).ids).toEqual(IDS.ids);
  });

  test('also when they have a member named like those of envelopes', async () => {
    expect(await idsOf([webAd(1, { data: { note: 'a' } }), webAd(2, { results: [{ n: 1 }] })])).toEqual(IDS);
  });
});

test('a file with records of two formats is refused, and is read with --format', async () => {
  const content = { ads: ADS, archive: [archiveAd] };
  const { observations, refused } = await read(content);
  expect(observations).toEqual([]);
  expect(refused.map(({ what }) => what)).toEqual([
    'has records of several formats: web-graphql at ads, ads-archive-json at archive',
  ]);
  const { ads } = await read(content, { ...OF_BRAND, format: 'ads-archive-json' });
  expect(ads).toHaveLength(1);
});

test('NaN and Infinity are blanks, and stay what they are in texts', async () => {
  const text = JSON.stringify([
    webAd(1, { page_name: 'NaN Socks' }, { title: 'Up to Infinity, NaN' }),
    webAd(2),
  ]);
  const { ads, refused } = await read(
    text
      .replace('"collation_count":null', '"collation_count":NaN')
      .replace('"currency":"EUR"', '"currency":-Infinity')
      .replace('"spend":"100-200"', '"spend":None')
      .replace('"link_description":" "', '"link_description":NaN'),
  );
  expect(refused).toEqual([]);
  expect(ads[0]).toMatchObject({
    page_name: 'NaN Socks',
    title: 'Up to Infinity, NaN',
    link_description: null,
  });
  expect(ads).toHaveLength(2);
});

test('records are found in pieces of any size', () => {
  const contents = [
    { ...META, ads: ADS, after: { n: [1] } },
    { [adId(1)]: webAd(1), [adId(2)]: webAd(2, { größe: 'ü' }) },
    { a: { list: [{ ad: webAd(1) }, { ad: webAd(2) }] } },
    [{ ads: [] }, { ads: ADS }, { error: 'x' }],
  ].flatMap((content) => [JSON.stringify(content), JSON.stringify(content, null, 1)]);
  const itemsOf = (pieces: readonly Buffer[]): unknown => {
    const scanner = new JsonScanner(placesOf('web-graphql'));
    return [...pieces.flatMap((piece) => scanner.push(piece)), ...scanner.end()];
  };
  fc.assert(
    fc.property(fc.constantFrom(...contents), fc.integer({ min: 1, max: 60 }), (content, size) => {
      const bytes = Buffer.from(content);
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      expect(itemsOf(pieces)).toEqual(itemsOf([bytes]));
    }),
    { numRuns: runs(200) },
  );
});
