import { describe, expect, test } from 'vitest';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { loadMapping, MappingFault } from '#services/ingest/readers/formats/column-mapping.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { workbook } from '../fixtures/workbook.ts';

const FIELDS = {
  ad_id: ['ad.id'],
  page_id: ['page.id'],
  page_name: ['page.name'],
  is_active: ['live'],
  started_on: ['from'],
  body: ['creative.texts[0]', 'creative.text'],
  cta_text: ['creative.button'],
  link_url: ['creative.links[1].url'],
  platforms: ['where'],
  image_url: ['image.src'],
};
const MAPPING = { name: 'own', records: 'result.ads', fields: FIELDS, collector: 'own-1', complete: false };
const record = (number: number, more: object = {}): object => ({
  ad: { id: adId(number) },
  page: { id: '400000000000011', name: 'Lumen Socks' },
  live: true,
  from: 1_767_254_400,
  creative: { texts: ['Warm feet'], button: 'SHOP NOW', links: [{}, { url: 'https://shop.example/' }] },
  where: ['Facebook', 'Instagram'],
  'image.src': 'https://cdn.example/a.jpg',
  spend: 9,
  ...more,
});

const readMapped = async (
  content: string | object,
  mapping: object = MAPPING,
  options: ReadOptions = OF_BRAND,
  name = 'own.json',
) => {
  await using folder = await ExportFolder.open();
  const loaded = await loadMapping(await folder.file('mapping.json', JSON.stringify(mapping)));
  const text = typeof content === 'string' || content instanceof Buffer ? content : JSON.stringify(content);
  return await reading(await folder.file(name, text), { ...options, mapping: loaded });
};

describe('a mapping for JSON', () => {
  test('reads the records at its place, with fields at paths', async () => {
    const { ads, refused, ends, observations } = await readMapped({
      page: 1,
      result: { other: [{ ad: { id: '1' } }], ads: [record(1), record(2, { creative: { text: 'Soft' } })] },
    });
    expect(refused).toEqual([]);
    expect(ads).toMatchObject([
      {
        ad_id: adId(1),
        page_id: '400000000000011',
        page_name: 'Lumen Socks',
        is_active: true,
        started_on: '2026-01-01',
        body: 'Warm feet',
        cta_text: 'Shop now',
        link_url: 'https://shop.example/',
        platforms: ['facebook', 'instagram'],
        media: [{ kind: 'image', url: 'https://cdn.example/a.jpg', poster_url: null }],
      },
      { ad_id: adId(2), body: 'Soft', link_url: null },
    ]);
    expect(ends[0]?.coverage).toMatchObject({ complete: false, collector: 'own-1' });
    expect(JSON.stringify(observations)).not.toContain('spend');
  });

  test('does not take members of a record for its place', async () => {
    const mapping = { ...MAPPING, records: 'data' };
    const { ads } = await readMapped({ data: [record(1, { data: [record(2)], result: 1 })] }, mapping);
    expect(ads.map(({ ad_id }) => ad_id)).toEqual([adId(1)]);
  });

  test('reads a list at the top level and one record per line, by default', async () => {
    const { records: _, ...topLevel } = MAPPING;
    expect((await readMapped([record(1), record(2)], topLevel)).ads).toHaveLength(2);
    const lines = [record(1), record(2)].map((one) => JSON.stringify(one)).join('\n');
    expect((await readMapped(lines, topLevel, OF_BRAND, 'own.ndjson')).ads).toHaveLength(2);
  });

  test('keeps ids that are numbers exact, and refuses rounded ones', async () => {
    const content = JSON.stringify({ result: { ads: [record(1), record(2)] } })
      .replace(`"${adId(1)}"`, '18014398509481985')
      .replace(`"${adId(2)}"`, '7.1e15');
    const { ads, refused } = await readMapped(content);
    expect(ads.map(({ ad_id }) => ad_id)).toEqual(['18014398509481985']);
    expect(refused[0]?.what).toContain('was damaged by a spreadsheet');
  });

  test.each([
    [
      'without the ad id',
      { creative: { text: 'Warm' } },
      'record 2 has an unknown shape: the mapping own expects the ad id at ad.id (found: creative)',
    ],
    [
      'without content',
      { ad: { id: adId(2) }, page: { id: '400000000000011' }, where: ['Facebook'] },
      'record 2 has an unknown shape: it has no content at the paths of the mapping own (found: ad, page, where)',
    ],
    [
      'with a list where a text is expected',
      record(2, { creative: { text: ['a', 'b'] } }),
      'creative.texts[0] or creative.text is a list, but a text is expected',
    ],
  ])('refuses a record %s', async (_, bad, what) => {
    const { ads, refused } = await readMapped({ result: { ads: [record(1), bad] } });
    expect(ads).toHaveLength(1);
    expect(refused.map((one) => one.what)).toEqual([what]);
    expect(JSON.parse(refused[0]?.raw ?? '')).toEqual(bad);
  });

  test('refuses a file without records at its place', async () => {
    const { observations, refused } = await readMapped({ answer: { ads: [record(1)] } });
    expect(observations).toEqual([]);
    expect(refused.map(({ what }) => what)).toEqual([
      'record 1 has an unknown shape: the mapping own expects a list at result.ads (found: answer)',
    ]);
  });

  test('reads brand, time and countries from paths, and removes page noise', async () => {
    const mapping = {
      ...MAPPING,
      records: '',
      fields: { ...FIELDS, brand_domain: ['brand'], scanned_at: ['seen'], countries: ['in'] },
      drop_lines: ['^Sponsored$'],
    };
    const more = { brand: 'shop.example', seen: '2026-03-02T09:00:00Z', in: ['de'] };
    const { ads, ends } = await readMapped(
      [record(1, { ...more, creative: { text: 'Warm\nSponsored' } })],
      mapping,
      {},
    );
    expect(ads).toMatchObject([{ body: 'Warm' }]);
    expect(ends[0]).toMatchObject({ brand_domain: 'shop.example', scanned_at: '2026-03-02T09:00:00.000Z' });
    expect(ends[0]?.coverage.countries).toEqual(['DE']);
  });

  test('is refused for CSV and spreadsheets, and a mapping for CSV is refused for JSON', async () => {
    const unfit = 'is no JSON, but the mapping is for JSON';
    expect((await readMapped('id,text\n1,a\n', MAPPING, OF_BRAND, 'own.csv')).refused).toMatchObject([
      { what: unfit },
    ]);
    expect((await readMapped(workbook([['id'], ['1']]), MAPPING)).refused).toMatchObject([{ what: unfit }]);
    const csv = {
      name: 'own',
      columns: { ad_id: ['id'] },
      variants: [{ collector: 'own', has_columns: [] }],
      complete: false,
    };
    expect((await readMapped([record(1)], csv)).refused).toMatchObject([
      { what: 'is JSON, but the mapping is for CSV' },
    ]);
    const sheet = await readMapped(
      workbook([
        ['id', 'x'],
        [adId(1), 'a'],
      ]),
      csv,
    );
    expect(sheet.ads).toMatchObject([{ ad_id: adId(1) }]);
  });

  test.each([
    ['an unknown field', { ...MAPPING, fields: { ...FIELDS, spend: ['spend'] } }, /spend/],
    ['no ad id', { ...MAPPING, fields: {} }, /ad_id/],
    ['no collector', { ...MAPPING, collector: undefined }, /collector/],
  ])('is refused with %s', async (_, mapping, message) => {
    await using folder = await ExportFolder.open();
    const path = await folder.file('mapping.json', JSON.stringify(mapping));
    await expect(loadMapping(path)).rejects.toThrow(message);
    await expect(loadMapping(path)).rejects.toBeInstanceOf(MappingFault);
  });
});
