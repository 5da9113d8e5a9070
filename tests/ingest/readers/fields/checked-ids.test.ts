import { describe, expect, test } from 'vitest';
import { actorAd, webAd } from '../../fixtures/export-shapes.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../../fixtures/export-files.ts';
import { loadMapping } from '#services/ingest/readers/formats/column-mapping.ts';

const read = async (content: string | object, name = 'export.json', mapping: object | null = null) => {
  await using folder = await ExportFolder.open();
  const path = await folder.file(name, typeof content === 'string' ? content : JSON.stringify(content));
  if (mapping === null) return await reading(path);
  const loaded = await loadMapping(await folder.file('mapping.json', JSON.stringify(mapping)));
  return await reading(path, { ...OF_BRAND, mapping: loaded });
};
const idsOf = ({ ads }: Awaited<ReturnType<typeof read>>) => ads.map(({ ad_id }) => ad_id);
const pagesOf = ({ ads }: Awaited<ReturnType<typeof read>>) => ads.map(({ page_id }) => page_id);

const PAGE = '400000000000011';
const csv = (
  rows: readonly string[],
  header = 'id,ad_snapshot_url,page_id,ad_delivery_start_time,ad_creative_bodies',
) => [header, ...rows].join('\n');
const snapshot = (id: string): string =>
  `https://www.facebook.com/ads/archive/render_ad/?id=${id}&access_token=x`;
const library = (id: string): string => `https://www.facebook.com/ads/library/?id=${id}`;

/** Ids beyond 2^53, with what a double makes of them. */
const ROUNDED = [
  ['71000000000000145', '71000000000000144'],
  ['71000000000000251', '71000000000000256'],
] as const;

describe('an ad id', () => {
  test.each([
    ['a double', '71000000000000144'],
    ['a double with an exponent', '7.1000000000000144e+16'],
    ['a data frame', '71000000000000144.0'],
    ['a spreadsheet', '71000000000000100'],
    ['a spreadsheet with an exponent', '7.10000000000001E+16'],
    ['a short display', '7.1E+16'],
  ])('that %s rounded is taken from the address of the ad', async (_, given) => {
    const result = await read(
      csv([`${given},${library('71000000000000145')},${PAGE},2026-01-01,Warm`]),
      'a.csv',
    );
    expect(idsOf(result)).toEqual(['71000000000000145']);
    expect(result.refused).toEqual([]);
    expect(result.notes).toEqual(['ad_id taken from the address of the ad']);
  });

  test('is confirmed by its address without a note, also when it looks rounded', async () => {
    const ids = [1, 2, 3, 4, 5].map((number) => `71000000000${number}0000`);
    const result = await read(csv(ids.map((id) => `${id},${snapshot(id)},${PAGE},2026-01-01,Warm`)), 'a.csv');
    expect(idsOf(result)).toEqual(ids);
    expect(result.notes).toEqual([]);
  });

  test('is the one of its address when the record has another number', async () => {
    const result = await read(csv([`10001,${library(adId(1))},${PAGE},2026-01-01,Warm`]), 'a.csv');
    expect(idsOf(result)).toEqual([adId(1)]);
  });

  test.each([
    'https://fb.com/ads/library/?id=71000000000000145',
    'https://de-de.facebook.com/ads/library?country=DE&amp;id=71000000000000145',
    '"=HYPERLINK(""https://www.facebook.com/ads/library/?id=71000000000000145"",""ad"")"',
  ])('is taken from an address as a page or a spreadsheet writes it: %s', async (address) => {
    const result = await read(csv([`71000000000000144,${address},${PAGE},2026-01-01,Warm`]), 'a.csv');
    expect(idsOf(result)).toEqual(['71000000000000145']);
  });

  test.each(['ad_id', 'adlib_id', 'ad_archive_id', 'ad_library_id'])(
    'is that of %s when id has the number of the row',
    async (name) => {
      const header = `id,${name},page_id,ad_delivery_start_time,ad_creative_bodies`;
      const result = await read(csv([`10001,${adId(1)},${PAGE},2026-01-01,Warm`], header), 'a.csv');
      expect(idsOf(result)).toEqual([adId(1)]);
      expect(idsOf(await read(csv([`,${adId(1)},${PAGE},2026-01-01,Warm`], header), 'a.csv'))).toEqual([
        adId(1),
      ]);
    },
  );

  test('is that of id when ad_id has a shorter number', async () => {
    const record = { id: adId(1), ad_id: 10_001, page_id: PAGE, ad_creative_bodies: ['Warm'] };
    expect(idsOf(await read([record]))).toEqual([adId(1)]);
  });

  test('is not taken from an address in a text, of a destination or of another column', async () => {
    const header = 'id,related_url,link,page_id,ad_delivery_start_time,ad_creative_bodies';
    const row = `${adId(1)},${library(adId(2))},${library(adId(3))},${PAGE},2026-01-01,See ${library(adId(4))}`;
    expect(idsOf(await read(csv([row], header), 'a.csv'))).toEqual([adId(1)]);
    const web = webAd(1, { url: library(adId(2)) }, { link_url: library(adId(3)) });
    expect(idsOf(await read([web]))).toEqual([adId(1)]);
  });

  test.each(['url', 'link', 'ad_details_link'])(
    'that is rounded is taken from a %s, which decides between digits only',
    async (name) => {
      const [exact, rounded] = ROUNDED[0];
      const one = webAd(1, { ad_archive_id: rounded, [name]: library(exact) });
      const other = webAd(2, { [name]: library(exact) });
      expect(idsOf(await read([one, other]))).toEqual([exact, adId(2)]);
    },
  );

  test('is refused when it is rounded and no address names it', async () => {
    const rows = ['7.1e+15', '71000000000000144.0'].map((id) => `${id},,${PAGE},2026-01-01,Warm`);
    const { ads, refused } = await read(csv(rows), 'a.csv');
    expect(ads).toEqual([]);
    expect(refused.map(({ what }) => what)).toEqual([
      'the ad id 7.1e+15 was damaged by a spreadsheet',
      'the ad id 71000000000000144.0 was damaged by a spreadsheet',
    ]);
  });

  test('is read from whole numbers with a decimal point or an exponent that lose nothing', async () => {
    const ids = ['400000000000123.0', '4.00000000000124E+14', '="7100000000000019"', `'7100000000000020`];
    const rows = ids.map((id) => `"${id.replaceAll('"', '""')}",,${PAGE},2026-01-01,Warm`);
    expect(idsOf(await read(csv(rows), 'a.csv'))).toEqual([
      '400000000000123',
      '400000000000124',
      '7100000000000019',
      '7100000000000020',
    ]);
  });

  test('is refused when an address shows that the file has rounded ids, and none confirms it', async () => {
    const [[whole, rounded], [, other]] = ROUNDED;
    const rows = [
      `${rounded},${library(whole)},${PAGE},2026-01-01,Warm`,
      `${other},,${PAGE},2026-01-01,Soft`,
      `${adId(3)},,${PAGE},2026-01-01,Dry`,
    ];
    const result = await read(csv(rows), 'a.csv');
    expect(idsOf(result)).toEqual([whole, adId(3)]);
    expect(result.refused.map(({ what }) => what)).toEqual([
      `the ad id ${other} was rounded by a program that keeps ids as numbers, as all long ids of this file were`,
    ]);
    expect(result.ends[0]?.coverage.complete).toBe(false);
  });

  test('is refused when all long ids of the file are those of doubles, too many for chance', async () => {
    const doubles = Array.from({ length: 12 }, (_, at) => String(71_000_000_000_000_144n + 16n * BigInt(at)));
    const rows = doubles.map((id) => `${id},,${PAGE},2026-01-01,Warm`);
    expect(idsOf(await read(csv(rows), 'a.csv'))).toEqual([]);
    const withOther = [...rows, `71000000000000145,,${PAGE},2026-01-01,Warm`];
    expect(idsOf(await read(csv(withOther), 'a.csv'))).toHaveLength(13);
  });

  test('is refused when it is a number of JSON beyond 2^53 that a double can have written', async () => {
    const asNumber = (id: string): string => JSON.stringify([webAd(1)]).replace(`"${adId(1)}"`, id);
    expect((await read(asNumber('71000000000000144'))).refused).toHaveLength(1);
    expect(idsOf(await read(asNumber('71000000000000145')))).toEqual(['71000000000000145']);
    expect(idsOf(await read(asNumber('"71000000000000144"')))).toEqual(['71000000000000144']);
  });

  test('is checked in every format', async () => {
    const [[whole, rounded]] = ROUNDED;
    const named = { ad_archive_id: rounded, ad_library_url: library(whole) };
    expect(idsOf(await read([webAd(1, named)]))).toEqual([whole]);
    const actor = { adArchiveID: rounded, adArchiveId: rounded, adLibraryURL: library(whole) };
    expect(idsOf(await read([actorAd(1, actor)]))).toEqual([whole]);
    const api = { id: rounded, ad_snapshot_url: snapshot(whole), ad_creative_bodies: ['Warm'] };
    expect(idsOf(await read([api]))).toEqual([whole]);
    const mapping = {
      name: 'own',
      fields: { ad_id: ['key'], body: ['text'] },
      collector: 'own',
      complete: false,
    };
    const mapped = [{ key: rounded, text: 'Warm', 'Snapshot URL': snapshot(whole) }];
    expect(idsOf(await read(mapped, 'a.json', mapping))).toEqual([whole]);
  });
});

describe('a page id', () => {
  test.each(['lumensocks', 'l.php', 'https://www.facebook.com/lumensocks', '12', 'n/a!'])(
    'that is none leaves the page of the ad unknown, with a note: %s',
    async (page_id) => {
      const result = await read([webAd(1, { page_id }), webAd(2)]);
      expect(result.refused).toEqual([]);
      expect(pagesOf(result)).toEqual([null, PAGE]);
      expect(result.notes).toEqual(['page_id is not an id']);
      expect(result.ends[0]?.coverage.pages).toEqual([{ page_id: PAGE, page_name: 'Lumen Socks' }]);
    },
  );

  test('is taken from the address of the page in the library, and not from its profile', async () => {
    const list = `https://www.facebook.com/ads/library/?active_status=all&view_all_page_id=${PAGE}&media_type=all`;
    const handle = { page_id: 'lumensocks' };
    expect(pagesOf(await read([webAd(1, { ...handle, page_library_url: list })]))).toEqual([PAGE]);
    const profile = { page_profile_uri: 'https://www.facebook.com/61500000000000011/' };
    expect(pagesOf(await read([webAd(1, handle, profile)]))).toEqual([null]);
    expect(pagesOf(await read([webAd(1, {}, profile)]))).toEqual([PAGE]);
  });

  test('that is rounded is taken from an address that has its digits, and else refused', async () => {
    const rounded = { page_id: '4.00000000000E+14' };
    const profile = { page_profile_uri: `https://www.facebook.com/${PAGE}/` };
    expect(pagesOf(await read([webAd(1, rounded, profile)]))).toEqual([PAGE]);
    const other = { page_profile_uri: 'https://www.facebook.com/61500000000000011/' };
    expect((await read([webAd(1, rounded, other)])).refused).toMatchObject([
      { what: 'the page id 4.00000000000E+14 was damaged by a spreadsheet' },
    ]);
  });

  test('of a partner may be a handle too', async () => {
    const branded_content = { page_id: 'a.partner', page_name: 'A Partner' };
    const { ads } = await read([webAd(1, {}, { branded_content })]);
    expect(ads[0]?.branded_content).toEqual({ page_id: null, page_name: 'A Partner' });
  });
});
