import { readFile as readText } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { CUT_MARK } from '#contracts/values/text.ts';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { dateOf } from '#services/ingest/readers/fields/ad-fields.ts';
import { RejectsFile } from '#services/ingest/files/rejects-file.ts';
import { adId, ExportFolder, OF_BRAND, reading, type Reading } from '../fixtures/export-files.ts';
import { apiPage, webAd } from '../fixtures/export-shapes.ts';

const HEADER = 'id,page_id,page_name,ad_delivery_start_time,ad_creative_body';
const row = (number: number, id = adId(number)): string =>
  `${id},400000000000011,Lumen Socks,2026-01-01,"Warm, soft ${number}"`;
const csv = (...rows: readonly string[]): string => `\uFEFF${[HEADER, ...rows].join('\r\n')}\r\n`;

const readAs = async (
  name: string,
  content: string | Buffer,
  options: ReadOptions = { ...OF_BRAND, complete: true },
) => {
  await using folder = await ExportFolder.open();
  return await reading(await folder.file(name, content), options);
};

const lines = ({ refused }: Reading): string[] =>
  refused.map(({ line, what, advice }) => `${line}: ${what}; ${advice}`);
const idsOf = ({ ads }: Reading): string[] => ads.map(({ ad_id }) => ad_id);

describe('a broken record', () => {
  test.each([
    ['a quote not closed', `${adId(2)},1,"Lumen,2026-01-01,x`],
    ['a quote not doubled', `${adId(2)},400000000000011,"Lumen"s,2026-01-01,x`],
    ['too few fields', `${adId(2)},400000000000011`],
    ['too many fields', `${row(2)},more`],
  ])('is the only one refused in CSV: %s', async (_, broken) => {
    const result = await readAs('a.csv', csv(row(1), broken, row(3), row(4)));
    expect(idsOf(result)).toEqual([adId(1), adId(3), adId(4)]);
    expect(result.refused).toMatchObject([{ line: 3, raw: broken, header: HEADER }]);
    expect(result.ends[0]?.coverage.complete).toBe(false);
  });

  const good = (number: number): string => JSON.stringify(webAd(number));
  test.each([
    ['a quote missing', good(2).replace('"is_active', 'is_active')],
    ['a text not closed', good(2).replace('Lumen Socks"', 'Lumen Socks')],
    ['a brace missing', good(2).slice(0, -1)],
    ['a brace too many', `${good(2)}}`],
    ['no JSON at all', 'Service temporarily unavailable'],
  ])('is the only one refused in JSON with one record per line: %s', async (name, broken) => {
    const taken = name === 'a brace too many' ? [adId(1), adId(2), adId(3)] : [adId(1), adId(3)];
    for (const content of [
      [good(1), broken, good(3)].join('\n'),
      `[\n${[good(1), broken, good(3)].join(',\n')}\n]\n`,
    ]) {
      const result = await readAs('a.json', content);
      expect(idsOf(result)).toEqual(taken);
      expect(result.refused).toHaveLength(1);
      expect(result.ends[0]?.coverage.complete).toBe(false);
    }
  });

  test('is the only one refused in indented JSON', async () => {
    const content = JSON.stringify([webAd(1), webAd(2), webAd(3)], null, 2).replace(
      `"Warm feet 2"`,
      '"Warm feet 2',
    );
    const result = await readAs('a.json', content);
    expect(idsOf(result)).toEqual([adId(1), adId(3)]);
    expect(result.refused).toHaveLength(1);
  });

  test('is refused with all other rows of its ad', async () => {
    const invalid = row(2).replace('2026-01-01', 'soon');
    const result = await readAs('a.csv', csv(row(1), row(2), invalid, row(3)));
    expect(idsOf(result)).toEqual([adId(1), adId(3)]);
    expect(result.refused.map(({ line }) => line).toSorted((a, b) => a - b)).toEqual([3, 4]);
  });
});

describe('damaged ids', () => {
  test('are refused with their lines when all long ids of the file end in 0', async () => {
    const damaged = [1, 2, 3, 4, 5].map((number) => row(number, `71000000000${number}0000`));
    const result = await readAs('a.csv', csv(...damaged, row(6, '710000000000123')));
    expect(idsOf(result)).toEqual(['710000000000123']);
    expect(lines(result)[0]).toBe(
      '2: the ad id 7100000000010000 was damaged by a spreadsheet, as all long ids of this file end in 0; ' +
        'export again with the ids as text, without passing through a spreadsheet',
    );
    expect(result.refused).toHaveLength(5);
    expect(result.ends[0]?.coverage.complete).toBe(false);
  });

  test('are not assumed when one long id ends otherwise, or when there are few of them', async () => {
    const round = [1, 2, 3, 4, 5].map((number) => row(number, `71000000000${number}0000`));
    expect((await readAs('a.csv', csv(...round, row(6)))).refused).toEqual([]);
    expect((await readAs('a.csv', csv(...round.slice(0, 4)))).refused).toEqual([]);
  });

  test('are detected from fewer ids when the ids have more digits', async () => {
    const ids = ['710000000000012000', '710000000000013000'];
    const result = await readAs('a.csv', csv(...ids.map((id, at) => row(at, id))));
    expect(result.observations).toEqual([]);
    expect(lines(result)[1]).toContain('the ad id 710000000000013000 was damaged by a spreadsheet');
  });

  test.each(['7.10000000000001E+15', '7.1e18', '7100000000000001234.0'])(
    'are refused when they are rounded numbers in JSON: %s',
    async (id) => {
      const content = JSON.stringify([webAd(1), webAd(2), webAd(3)]).replace(`"${adId(2)}"`, id);
      const result = await readAs('a.json', content);
      expect(idsOf(result)).toEqual([adId(1), adId(3)]);
      expect(lines(result)[0]).toContain(`the ad id`);
      expect(lines(result)[0]).toContain(id);
    },
  );

  test('of social pages are detected too', async () => {
    const rows = [1, 2, 3, 4, 5].map((number) =>
      row(number).replace('400000000000011', `40000000000${number}0000`),
    );
    const result = await readAs('a.csv', csv(...rows));
    expect(result.observations).toEqual([]);
    expect(lines(result)[4]).toContain('the page id 4000000000050000 was damaged by a spreadsheet');
  });

  test.each(['7.1E+15', '7,1E+15', 'n/a', '12', '9'.repeat(21), ''])(
    'are refused as invalid ids: %j',
    async (id) => {
      const result = await readAs('a.csv', csv(row(1), row(2, id.includes(',') ? `"${id}"` : id)));
      expect(idsOf(result)).toEqual([adId(1)]);
      expect(result.refused).toMatchObject([{ line: 3 }]);
    },
  );
});

describe('dates', () => {
  test.each(['0001-01-01', '1899-12-30', '2200-01-01'])(
    'that no ad can have are unknown, with a note: %s',
    async (date) => {
      const result = await readAs('a.csv', csv(row(1), row(2).replace('2026-01-01', date)));
      expect(result.ads.map(({ started_on }) => started_on)).toEqual(['2026-01-01', null]);
      expect(result.notes).toHaveLength(1);
    },
  );

  test('are read after January 2038, also in seconds, and 9999-12-31 means no date', () => {
    expect(dateOf('the start date', 2_147_483_648 + 86_400)).toBe('2038-01-20');
    expect(dateOf('the start date', '9999-12-31')).toBeNull();
  });
});

describe('a file', () => {
  test('is read after a first record that is too long', async () => {
    const ads = [webAd(1, { junk: 'x'.repeat(10_000_000) }), webAd(2)];
    const result = await readAs('a.json', JSON.stringify(ads));
    expect(idsOf(result)).toEqual([adId(2)]);
    expect(lines(result)[0]).toContain('is longer than');
  });

  test('is read up to a truncation of its gzip data, and the scan is not complete', async () => {
    const rows = Array.from({ length: 5_000 }, (_, at) => row(at));
    const whole = gzipSync(csv(...rows));
    const result = await readAs('a.csv.gz', whole.subarray(0, whole.length / 2));
    expect(result.ads.length).toBeGreaterThan(1_000);
    expect(result.ads.length).toBeLessThan(5_000);
    expect(lines(result).at(-1)).toMatch(/the gzip data is cut short or damaged after \d+ of \d+ bytes/);
    expect(lines(result).at(-1)).toContain('fetch the file again');
    expect(result.ends[0]?.coverage.complete).toBe(false);
  });

  test('is read up to a truncation of its JSON, and the scan is not complete', async () => {
    const content = JSON.stringify(apiPage([1, 2, 3], false));
    const result = await readAs('a.json', content.slice(0, content.indexOf(adId(3)) + 40));
    expect(idsOf(result)).toEqual([adId(1), adId(2)]);
    expect(result.ends[0]?.coverage.complete).toBe(false);
  });

  test.each([
    ['of an unknown format', 'a.csv', 'name,price\nsocks,3\n', /unknown format.*name, price.*--mapping/],
    [
      'of unknown JSON',
      'a.json',
      '{"products": [{"id": 1}]}',
      /unknown format.*ads-archive-json, ads-archive-csv/,
    ],
    ['that is empty', 'a.csv', '', /is empty/],
  ])('%s is refused in one line', async (_, name, content, expected) => {
    const result = await readAs(name, content);
    expect(result.observations).toEqual([]);
    expect(lines(result)).toHaveLength(1);
    expect(lines(result)[0]).toMatch(expected);
  });

  test('is refused with the missing columns when its header is unexpected', async () => {
    const result = await readAs('a.csv', 'name,price\nsocks,3\n', {
      ...OF_BRAND,
      format: 'ads-archive-csv',
      complete: true,
    });
    expect(lines(result)).toEqual([
      '1: has an unexpected header: missing id or ad_id or ad_archive_id or ad_library_id or adlib_id (found name, price); use --mapping FILE for other headers',
    ]);
  });

  test('is refused in one line with the required option when it has no brand or time', async () => {
    const content = csv(row(1), row(2));
    const noBrand = await readAs('a.csv', content, { scannedAt: '2026-03-02T08:00:00.000Z' });
    expect(lines(noBrand)).toEqual(['1: belongs to a scan without a brand; add --brand DOMAIN']);
    const noTime = await readAs('a.csv', content, { brand: 'lumen-socks.example' });
    expect(lines(noTime)[0]).toContain('add --scanned-at TIME');
  });

  test.each([
    ['a.csv', csv(row(1), row(2).replace('soft', 'größe'))],
    ['a.json', `\uFEFF${JSON.stringify([webAd(1), webAd(2, {}, { body: { text: 'größe 🧦' } })])}`],
  ])('is read in UTF-16 with a byte order mark: %s', async (name, content) => {
    const littleEndian = Buffer.from(content, 'utf16le');
    for (const bytes of [littleEndian, Buffer.from(littleEndian).swap16(), gzipSync(littleEndian)]) {
      const result = await readAs(name, bytes);
      expect(result.refused).toEqual([]);
      expect(idsOf(result)).toEqual([adId(1), adId(2)]);
      expect(result.ads[1]?.body).toContain('größe');
    }
  });

  test.each(['caf\u00e9 creme\n', 'caf\u00e9'])('keeps the records that are valid UTF-8: %j', async (end) => {
    const last = `${adId(2)},400000000000011,Lumen Socks,2026-01-01,${end}`;
    const content = Buffer.concat([Buffer.from(csv(row(1))), Buffer.from(last, 'latin1')]);
    const result = await readAs('a.csv', content);
    expect(idsOf(result)).toEqual([adId(1)]);
    expect(lines(result)).toEqual([
      '3: has bytes that are not UTF-8; save the file as UTF-8 and import it again',
    ]);
  });
});

test('only a record over the limit of the reader is refused because of its length', async () => {
  const content = [
    webAd(1),
    webAd(2, {}, { body: { text: 'x'.repeat(20_001) } }),
    webAd(3, { page_name: 'x'.repeat(5_000_000) }),
  ];
  const result = await readAs('a.json', JSON.stringify([...content, webAd(4)]));
  expect(idsOf(result)).toEqual([adId(1), adId(2), adId(4)]);
  expect(result.ads[1]?.body).toBe(`${'x'.repeat(20_000 - CUT_MARK.length)}${CUT_MARK}`);
  expect(lines(result)).toEqual(['1: is longer than 4194304 bytes; fix the record and import it again']);
});

test('an error response among the result pages is refused with its message', async () => {
  const error = { error: { message: 'Please reduce the amount of data', code: 1 } };
  const result = await readAs(
    'a.json',
    [apiPage([1], true), error].map((page) => JSON.stringify(page)).join('\n'),
  );
  expect(lines(result)).toEqual([
    '2: is an error reply of an API without records: Please reduce the amount of data; fetch this page again',
  ]);
  expect(result.ends[0]?.coverage.complete).toBe(false);
});

describe('a rejects file', () => {
  const broken = JSON.stringify(webAd(2), null, 1).replace('"Warm feet 2"', '"Warm feet 2');
  test.each([
    ['a.csv', csv(row(1), `${adId(2)},400000000000011,"Lumen"s,2026-01-01,x`, row(3)), '"Lumen"s', 'Lumens'],
    ['a.csv.gz', csv(row(1), row(2).replace('2026-01-01', '01/02/2026'), row(3)), '01/02/2026', '2026-01-02'],
    [
      'a.json',
      `[${JSON.stringify(webAd(1))},\n${broken},\n${JSON.stringify(webAd(3))}]`,
      'Warm feet 2',
      'Warm feet 2"',
    ],
  ])('of %s can be fixed and imported again', async (name, content, wrong, right) => {
    await using folder = await ExportFolder.open();
    const path = await folder.file(name, content);
    const first = await reading(path);
    await using rejects = new RejectsFile(path, folder.path);
    for (const { raw, header } of first.refused) await rejects.write({ raw: raw ?? '', header });
    expect(idsOf(first)).toEqual([adId(1), adId(3)]);

    const written = rejects.path ?? '';
    expect(written).toMatch(/a\.refused\.(csv|jsonl)$/);
    const unfixed = await reading(written);
    expect(unfixed.ads).toEqual([]);
    expect(unfixed.refused).toHaveLength(1);

    const fixed = (await readText(written, 'utf8')).replace(wrong, right);
    const again = await reading(await folder.file(written.slice(folder.path.length + 1), fixed), {
      ...OF_BRAND,
      complete: true,
    });
    expect(again.refused).toEqual([]);
    expect(idsOf(again)).toEqual([adId(2)]);
    // Ads that are not in this file must not count as absent.
    expect(again.ends[0]?.coverage.complete).toBe(false);
  });

  test('of a fixed rejects file does not overwrite that file', async () => {
    await using folder = await ExportFolder.open();
    const path = await folder.file('a.refused.csv', csv(row(1)));
    await using rejects = new RejectsFile(path, folder.path);
    await rejects.write({ raw: row(1), header: HEADER });
    expect(rejects.path).toMatch(/a\.refused-2\.csv$/);
    expect((await reading(rejects.path ?? '')).ends[0]?.coverage.complete).toBe(false);
  });

  test('is never overwritten by a later run or by another file of the same name', async () => {
    await using folder = await ExportFolder.open();
    const paths: (string | null)[] = [];
    for (const number of [1, 2, 3]) {
      await using rejects = new RejectsFile(`elsewhere-${number}/a.csv.gz`, folder.path);
      await rejects.write({ raw: row(number), header: HEADER });
      paths.push(rejects.path);
    }
    expect(new Set(paths).size).toBe(3);
    for (const [at, path] of paths.entries()) {
      expect(await readText(path ?? '', 'utf8')).toBe(`${HEADER}\n${row(at + 1)}\n`);
    }
  });
});
