import { describe, expect, test } from 'vitest';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { ExportFolder, reading, type Reading } from '../fixtures/export-files.ts';

const FETCHED: ReadOptions = { scannedAt: '2026-03-02T08:00:00.000Z' };

const readAs = async (name: string, content: string | Buffer, options: ReadOptions = FETCHED) => {
  await using folder = await ExportFolder.open();
  return await reading(await folder.file(name, content), options);
};
const lines = ({ refused }: Reading): string[] => refused.map(({ line, what }) => `${line}: ${what}`);
const ranksOf = ({ observations }: Reading): string[] =>
  observations.map((one) =>
    one.type === 'traffic.estimate' ? `${one.global_rank} ${one.domain}` : one.type,
  );
const pathsOf = ({ observations }: Reading): string[] =>
  observations.map((one) =>
    one.type === 'category.define' ? `${one.taxonomy_id} ${one.path.join('/')}` : one.type,
  );

describe('a rank list', () => {
  test.each([
    ['with a header', 'GlobalRank,TldRank,Domain,TLD\n1,1,one.example,example\n2,2,Two.Example,example\n'],
    ['with another header', 'domain;rank\r\none.example;1\r\ntwo.example;2\r\n'],
    ['without a header', '1,one.example\n2,two.example\n'],
  ])('is detected by content: %s', async (_, content) => {
    for (const options of [FETCHED, { ...FETCHED, format: 'rank-list' as const }]) {
      const result = await readAs('list.csv.gz', content, options);
      expect(ranksOf(result)).toEqual(['1 one.example', '2 two.example']);
      expect(result.refused).toEqual([]);
      expect(result.observations[0]).toMatchObject({
        period: '2026-03-02',
        observed_at: FETCHED.scannedAt,
        monthly_visits: null,
      });
    }
  });

  test('of domains alone is read only with an explicit format', async () => {
    const content = 'one.example\ntwo.example\n';
    expect(lines(await readAs('list.txt', content))[0]).toMatch(/unknown format/);
    expect(ranksOf(await readAs('list.txt', content, { ...FETCHED, format: 'rank-list' }))).toEqual([
      '1 one.example',
      '2 two.example',
    ]);
  });

  test('refuses only the broken rows, each with its line', async () => {
    const result = await readAs(
      'list.csv',
      'rank,domain\n1,one.example\nfirst,two.example\n3,nowhere\n0,four.example\n5\n6,six.example\n7,xn--e1afmkfd.xn--p1ai\n',
    );
    expect(ranksOf(result)).toEqual(['1 one.example', '6 six.example', '7 xn--e1afmkfd.xn--p1ai']);
    expect(lines(result)).toEqual([
      '3: the rank "first" is not a whole number from 1 to 1000000000',
      '4: "nowhere" is not a domain',
      '5: the rank "0" is not a whole number from 1 to 1000000000',
      '6: has 1 fields where the header has 2',
    ]);
    expect(result.refused.every(({ header }) => header === 'rank,domain')).toBe(true);
  });

  test('is refused without a collection time or without its two columns', async () => {
    expect(lines(await readAs('list.csv', '1,one.example\n', {}))).toEqual(['1: has no collection time']);
    const other = await readAs('list.csv', 'name,colour\na,b\n', { ...FETCHED, format: 'rank-list' });
    expect(lines(other)).toEqual([
      '1: has an unexpected header: missing rank or domain (found name, colour)',
    ]);
  });

  test('keeps the rows before a truncation', async () => {
    const { gzipSync } = await import('node:zlib');
    const rows = Array.from({ length: 50_000 }, (_, at) => `${at + 1},site-${at * 7919}.example`).join('\n');
    const whole = gzipSync(`rank,domain\n${rows}\n`);
    const result = await readAs('list.csv.gz', whole.subarray(0, whole.length / 2));
    expect(result.observations.length).toBeGreaterThan(10_000);
    expect(lines(result).at(-1)).toMatch(/the gzip data is cut short/);
  });
});

describe('a taxonomy', () => {
  const TEXT = `\uFEFF# Shop_Product_Taxonomy_Version: 2025-09-21
1 - Apparel & Accessories
12 - Apparel & Accessories > Shoes

13 - Apparel & Accessories > Shoes > Boots
14 - Apparel & Accessories > Shoes > Boots > Rain Boots
`;
  test('is detected by content, and is read with its own date down to the third level', async () => {
    for (const options of [{}, { format: 'taxonomy-text' as const }]) {
      const result = await readAs('taxonomy.txt', TEXT.replaceAll('\n', '\r\n'), options);
      expect(pathsOf(result)).toEqual([
        '1 Apparel & Accessories',
        '12 Apparel & Accessories/Shoes',
        '13 Apparel & Accessories/Shoes/Boots',
      ]);
      expect(result.observations[0]).toMatchObject({
        taxonomy: 'shop-product-taxonomy',
        observed_at: '2025-09-21T00:00:00.000Z',
        level: 1,
      });
      expect(result.refused).toEqual([]);
    }
  });

  test('uses the time of the caller before its own date, and needs one of them', async () => {
    expect((await readAs('taxonomy.txt', TEXT)).observations[0]).toMatchObject({
      observed_at: FETCHED.scannedAt,
    });
    expect(lines(await readAs('taxonomy.txt', '1 - Apparel\n2 - Pets\n', {}))).toEqual([
      '1: is part of a taxonomy without a date',
    ]);
  });

  test('refuses only the broken lines', async () => {
    const result = await readAs(
      'taxonomy.txt',
      `# Shop_Taxonomy_Version: 2025-09-21\n1 - Apparel\nApparel > Hats\n3 - Apparel > apparel\n4 - Apparel >  > Hats\n5 - Pets\n6 - ${'x'.repeat(70_000)}\n`,
    );
    const cutName = expect.stringMatching(/^6 x{87}…[0-9a-f]{12}$/);
    expect(pathsOf(result)).toEqual(['1 Apparel', '5 Pets', cutName]);
    expect(lines(result)).toEqual([
      '3: is not a category line such as "12 - Apparel > Shoes"',
      '4: path: names a category inside itself; a path holds each name once',
      expect.stringMatching(/^5: path.1: /),
    ]);
    expect(result.refused[0]?.header).toBe('# Shop_Taxonomy_Version: 2025-09-21');
  });
});
