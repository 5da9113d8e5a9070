import { readFile as readText } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { RejectsFile } from '#services/ingest/files/rejects-file.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { type SheetCell, workbook, workbookParts, zip } from '../fixtures/workbook.ts';

const HEADER = ['id', 'page_id', 'page_name', 'ad_delivery_start_time', 'ad_creative_body'];
/** Day number of 2026-01-01. */
const NEW_YEAR = '46023';
const row = (id: SheetCell, body: SheetCell = 'Warm, "soft"\nfeet'): readonly SheetCell[] => [
  id,
  '400000000000011',
  'Lumen Socks',
  { date: NEW_YEAR },
  body,
];

const readAs = async (
  content: Buffer,
  options: ReadOptions = { ...OF_BRAND, complete: true },
  name = 'a.xlsx',
) => {
  await using folder = await ExportFolder.open();
  return await reading(await folder.file(name, content), options);
};

describe('a spreadsheet', () => {
  test('is read with texts, dates, inline texts and blank rows, with any file name', async () => {
    const content = workbook([
      HEADER,
      row(adId(1)),
      [],
      row(adId(2), { inline: 'A & B\r' }),
      [adId(3), '', 'Page'],
    ]);
    for (const name of ['a.xlsx', 'a.csv', 'a']) {
      const { ads, refused, ends } = await readAs(content, { ...OF_BRAND, complete: true }, name);
      expect(refused).toEqual([]);
      expect(ads).toMatchObject([
        { ad_id: adId(1), started_on: '2026-01-01', body: 'Warm, "soft"\nfeet', page_name: 'Lumen Socks' },
        { ad_id: adId(2), body: 'A & B' },
        { ad_id: adId(3), body: null, page_id: null, page_name: 'Page' },
      ]);
      expect(ends[0]?.coverage).toMatchObject({ complete: true, collector: 'ads-archive-csv' });
    }
  });

  test('is read as a rank list', async () => {
    const content = workbook([
      ['rank', 'domain'],
      [{ number: '1' }, 'shop.example'],
      [{ number: '2.0' }, 'other.example'],
    ]);
    expect((await readAs(content)).observations).toMatchObject([
      { domain: 'shop.example', global_rank: 1 },
      { domain: 'other.example', global_rank: 2 },
    ]);
  });

  test('has exact ids when they are numbers of up to 15 digits or whole numbers', async () => {
    const ids = ['400000000000123', '4.00000000000124E+14', '7100000000000019'];
    const { ads, refused } = await readAs(workbook([HEADER, ...ids.map((id) => row({ number: id }))]));
    expect(refused).toEqual([]);
    expect(ads.map(({ ad_id }) => ad_id)).toEqual(['400000000000123', '400000000000124', '7100000000000019']);
  });

  test('is refused row by row when its ids have lost digits', async () => {
    const exponents = await readAs(workbook([HEADER, row(adId(1)), row({ number: '7.10000000000002E+15' })]));
    expect(exponents.ads).toHaveLength(1);
    expect(exponents.refused).toMatchObject([
      { line: 3, what: 'the ad id 7.10000000000002E+15 was damaged by a spreadsheet' },
    ]);
    const zeros = [1, 2, 3, 4, 5].map((number) => row({ number: `71000000000${number}0000` }));
    const rounded = await readAs(workbook([HEADER, ...zeros]));
    expect(rounded.observations).toEqual([]);
    expect(rounded.refused).toHaveLength(5);
    expect(rounded.refused[0]?.what).toContain('was damaged by a spreadsheet');
  });

  test('refuses a row by its number in the sheet, and writes it to a rejects file that can be fixed', async () => {
    await using folder = await ExportFolder.open();
    const path = await folder.file(
      'a.xlsx',
      workbook([HEADER, row(adId(1)), [], row('none', 'a "b",\nc'), [...row(adId(2)), 'x']]),
    );
    const { refused, ads, ends } = await reading(path);
    expect(refused.map(({ line, what }) => [line, what])).toEqual([
      [4, 'the ad id "none" is not an id of 5 to 20 digits'],
      [5, 'has 6 cells where the header has 5'],
    ]);
    expect(ads).toHaveLength(1);
    expect(ends[0]?.coverage.complete).toBe(false);
    await using rejects = new RejectsFile(path, folder.path);
    await rejects.write({ raw: refused[0]?.raw ?? '', header: refused[0]?.header ?? null });
    expect(rejects.path).toMatch(/a\.refused\.csv$/);
    const fixed = (await readText(rejects.path ?? '', 'utf8')).replace('none', adId(3));
    const again = await reading(await folder.file('a.refused.csv', fixed));
    expect(again.ads).toMatchObject([{ ad_id: adId(3), body: 'a "b",\nc', started_on: '2026-01-01' }]);
  });

  test('is refused in one line when it has no ads, or its format does not fit', async () => {
    const other = await readAs(
      workbook([
        ['name', 'price'],
        ['socks', '3'],
      ]),
    );
    expect(other.refused.map(({ what }) => what)).toEqual([
      'has an unknown format: CSV with the columns name, price; no known shape is near',
    ]);
    const json = await readAs(workbook([HEADER]), { ...OF_BRAND, format: 'web-graphql' });
    expect(json.refused.map(({ what }) => what)).toEqual([
      'is a spreadsheet, which --format web-graphql does not read',
    ]);
    expect((await readAs(workbook([]))).refused.map(({ what }) => what)).toEqual(['has no row']);
  });
});

describe('a damaged or hostile spreadsheet', () => {
  const parts = workbookParts([HEADER, row(adId(1)), row(adId(2))]);
  const sheet = parts['xl/worksheets/sheet1.xml'] ?? '';
  const withSheet = (text: string): Buffer => zip({ ...parts, 'xl/worksheets/sheet1.xml': text });

  test('keeps the rows before the damage', async () => {
    const { ads, refused, ends } = await readAs(withSheet(sheet.slice(0, sheet.indexOf('<row r="3">') + 20)));
    expect(ads.map(({ ad_id }) => ad_id)).toEqual([adId(1)]);
    expect(refused[0]?.what).toContain('the workbook has a part xl/worksheets/sheet1.xml that is not XML');
    expect(ends[0]?.coverage.complete).toBe(false);
  });

  test.each([
    [
      'entities of its own',
      sheet
        .replace('<worksheet', '<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet')
        .replace('<v>0</v>', '<v>&a;</v>'),
      /not XML: .*undefined entity/,
    ],
    [
      'a cell of endless text',
      sheet.replace('<v>0</v>', `<v>${' '.repeat(3_000_000)}</v>`),
      /has a text of more than 1048576 bytes|characters in its row/,
    ],
    ['a cell beyond the last column', sheet.replace('r="A1"', 'r="ZZZ1"'), /more than 16384 columns/],
  ])('is refused without being expanded: %s', async (_, text, expected) => {
    const { observations, refused } = await readAs(withSheet(text));
    expect(observations).toEqual([]);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.what).toMatch(expected);
  });

  test('is refused when a part is missing or the archive is cut short', async () => {
    const { 'xl/styles.xml': _, ...lacking } = parts;
    expect((await readAs(zip(lacking))).refused[0]?.what).toBe('the workbook lacks the part xl/styles.xml');
    const whole = workbook([HEADER, row(adId(1))]);
    expect((await readAs(whole.subarray(0, whole.length - 40))).refused[0]?.what).toMatch(
      /is a damaged ZIP archive/,
    );
  });
});
