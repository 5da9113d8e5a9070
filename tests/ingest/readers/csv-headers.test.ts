import { describe, expect, test } from 'vitest';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';

const read = async (content: string, options = OF_BRAND) => {
  await using folder = await ExportFolder.open();
  return await reading(await folder.file('ads.csv', content), options);
};
const NAMES = ['id', 'page_id', 'ad_delivery_start_time', 'ad_creative_body'];
const VALUES = [adId(1), '400000000000011', '2026-01-01', 'Warm'];

describe('a first line that names the delimiter', () => {
  test.each([
    ['sep=;\n', ';'],
    ['\uFEFFsep=;\r\n', ';'],
    ['sep=\\t\n', '\t'],
    ['sep=\t\n', '\t'],
    ['"sep=,"\r\n', ','],
    ['sep=|\n', '|'],
    ['SEP=~\n', '~'],
    ['sep=;;;;\n', ';'],
    ['sep=,\n', ';'],
  ])('%j is skipped, and the delimiter is used', async (first, delimiter) => {
    const lines = [NAMES, VALUES].map((fields) => fields.join(delimiter));
    const { ads, refused } = await read(`${first}${lines.join('\r\n')}\r\n`);
    expect(refused).toEqual([]);
    expect(ads).toMatchObject([{ ad_id: adId(1), body: 'Warm', started_on: '2026-01-01' }]);
  });

  test('counts as a line, and stays above the header of a rejects file', async () => {
    const { refused } = await read(`sep=~\n${NAMES.join('~')}\n${['none', ...VALUES.slice(1)].join('~')}\n`);
    expect(refused).toMatchObject([{ line: 3, header: `sep=~\n${NAMES.join('~')}` }]);
  });

  test('is skipped in a rank list', async () => {
    const { observations } = await read('sep=;\nrank;domain\n1;one.example\n');
    expect(observations).toMatchObject([{ domain: 'one.example', global_rank: 1 }]);
  });
});

describe('a helper column', () => {
  test.each(['', 'Unnamed: 0', 'index'])('named %j is not read', async (name) => {
    const { ads, refused } = await read(
      `${[name, ...NAMES, ''].join(',')}\n${['0', ...VALUES, 'x'].join(',')}\n`,
    );
    expect(refused).toEqual([]);
    expect(ads).toMatchObject([{ ad_id: adId(1), body: 'Warm' }]);
  });

  test('that the header does not have is refused with its cause', async () => {
    const { refused } = await read(`${NAMES.join(',')}\n${[...VALUES, 'x'].join(',')}\n`);
    expect(refused).toMatchObject([
      {
        what: 'has 5 fields where the header has 4',
        advice: expect.stringContaining('give each column a name'),
      },
    ]);
  });
});

describe('a header in other letters', () => {
  test.each([
    'Ad_Archive_ID,Page_ID,Ad_Delivery_Start_Time,Ad_Creative_Body',
    'Ad Archive ID,Page ID,Ad Delivery Start Time,Ad Creative Body',
    'adArchiveId,pageId,adDeliveryStartTime,adCreativeBody',
    'ID,PAGE_ID,ad-delivery-start-time,Ad Creative Body',
  ])('is known: %s', async (header) => {
    const { ads, refused } = await read(`${header}\n${VALUES.join(',')}\n`);
    expect(refused).toEqual([]);
    expect(ads).toMatchObject([
      { ad_id: adId(1), page_id: '400000000000011', started_on: '2026-01-01', body: 'Warm' },
    ]);
  });

  test('is refused with its cause when its shape is unknown', async () => {
    const { refused } = await read(`Ad Archive ID,Page Name,Copy\n${adId(1)},Lumen,Warm\n`);
    expect(refused[0]?.what).toContain('CSV with the columns Ad Archive ID, Page Name, Copy');
  });
});

describe("an export of a website's ads with paths as columns", () => {
  test.each([
    ['.', 'ad_archive_id,page_id,start_date,snapshot.page_name,snapshot.body.text,snapshot.cards[0].title'],
    ['/', 'adArchiveID,pageID,startDate,snapshot/pageName,snapshot/body/text,snapshot/cards/0/title'],
  ])('by %s is read', async (_, header) => {
    const { ads, refused, ends } = await read(
      `${header},snapshot.images\n${adId(1)},400000000000011,1767254400,Lumen,Warm,One,[]\n${adId(2)},,,,,,\n`,
    );
    expect(ads).toMatchObject([
      {
        ad_id: adId(1),
        page_id: '400000000000011',
        page_name: 'Lumen',
        started_on: '2026-01-01',
        body: 'Warm',
        cards: [{ title: 'One' }],
      },
    ]);
    expect(refused).toMatchObject([{ line: 3, what: expect.stringContaining('has an unknown shape') }]);
    expect(ends[0]?.coverage).toMatchObject({ collector: 'library-web', complete: false });
  });
});

test('columns of one name are one column, and two values in them are refused', async () => {
  const header = [...NAMES, 'page_id'].join(',');
  const rows = [
    [...VALUES, VALUES[1]],
    [adId(2), '', '2026-01-01', 'Warm', '400000000000011'],
    [adId(3), ...VALUES.slice(1), '400000000000022'],
  ];
  const { ads, refused } = await read([header, ...rows.map((row) => row.join(','))].join('\n'));
  expect(ads.map(({ page_id }) => page_id)).toEqual(['400000000000011', '400000000000011']);
  expect(refused).toMatchObject([
    {
      line: 4,
      what: 'has two values in columns that are both named page_id',
      advice: expect.stringContaining('rename'),
    },
  ]);
});
