import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { connection, webAd } from '../fixtures/export-shapes.ts';

/** Data block whose results are nested in the arguments of a script loader. */
const block = (data: object, type = 'type="application/json"'): string =>
  `<script ${type} data-sjs>${JSON.stringify({ require: [['Server', 'handle', null, [{ __bbox: { result: data } }]]] })}</script>`;
const page = (...parts: readonly string[]): string =>
  `<!DOCTYPE html>\n<html><head>\n<script>var a = "<b>";\n</script>\n</head><body>\n${parts.join('\n')}\n</body></html>`;

const readPage = async (content: string | Buffer, options: ReadOptions = OF_BRAND, name = 'library.html') => {
  await using folder = await ExportFolder.open();
  return await reading(await folder.file(name, content), options);
};

describe('a saved page of the library', () => {
  test('yields every ad of its data blocks', async () => {
    const content = page(
      block({ user: { id: 1 } }),
      block(connection([[webAd(1), webAd(2)]], true)),
      '<p>text</p>',
      block(connection([[webAd(3)], [webAd(1)]], false), "type='application/json'"),
    );
    for (const [name, bytes] of [
      ['a.html', content],
      ['a.htm.gz', gzipSync(content)],
      ['a.json', content],
    ] as const) {
      const { ads, refused, ends } = await readPage(bytes, OF_BRAND, name);
      expect(refused).toEqual([]);
      expect(ads.map(({ ad_id }) => ad_id)).toEqual([adId(1), adId(2), adId(3)]);
      expect(ads[0]).toMatchObject({ body: 'Warm feet 1', cta_text: 'Shop now', started_on: '2026-01-01' });
      expect(ends[0]?.coverage).toMatchObject({ complete: true, collector: 'library-web' });
    }
  });

  test('is not complete while the library has further results', async () => {
    const { ends } = await readPage(page(block(connection([[webAd(1)]], true))));
    expect(ends[0]?.coverage.complete).toBe(false);
  });

  test('has exact ids and text with markup', async () => {
    const text = connection([[webAd(1, {}, { body: { text: 'a </b> <script> & ü' } })]], false);
    const content = page(block(text).replaceAll('</b>', '<\\/b>')).replace(
      `"${adId(1)}"`,
      '18014398509481985',
    );
    const { ads } = await readPage(content);
    expect(ads).toMatchObject([{ ad_id: '18014398509481985', body: 'a </b> <script> & ü' }]);
  });

  test('refuses a record by the line of its data block', async () => {
    const bad = { ad_archive_id: adId(2), creative: {} };
    const { ads, refused } = await readPage(page('<p>\n</p>', block(connection([[webAd(1), bad]], false))));
    expect(ads).toHaveLength(1);
    expect(refused).toMatchObject([
      { line: 8, what: expect.stringContaining('record 2 has an unknown shape') },
    ]);
    expect(JSON.parse(refused[0]?.raw ?? '')).toEqual(bad);
  });

  test('is read to the data block that is cut short', async () => {
    const whole = page(block(connection([[webAd(1)]], false)), block(connection([[webAd(2)]], false)));
    const cut = await readPage(whole.slice(0, -200));
    expect(cut.ads).toHaveLength(1);
    expect(cut.refused.map(({ what }) => what)).toEqual(['the page ends inside its library data']);
    expect(cut.ends[0]?.coverage.complete).toBe(false);
    const broken = await readPage(whole.replace('Warm feet 2"', 'Warm feet 2'));
    expect(broken.ads).toHaveLength(1);
    expect(broken.refused[0]?.what).toContain('a data block of the page is not JSON');
  });

  test('without library data is refused, as is a format other than --format', async () => {
    const script = block(connection([[webAd(1)]], false), 'type="text/javascript"');
    for (const content of [
      page(block({ login: true })),
      page(script),
      page('<p>search_results_connection</p>'),
    ]) {
      const { observations, refused } = await readPage(content);
      expect(observations).toEqual([]);
      expect(refused.map(({ what }) => what)).toEqual(['is an HTML page without library data']);
    }
    const format = await readPage(page(block(connection([[webAd(1)]], false))), {
      ...OF_BRAND,
      format: 'rank-list',
    });
    expect(format.refused.map(({ what }) => what)).toEqual([
      'is an HTML page, which --format rank-list does not read',
    ]);
  });

  test('is read in pieces of any size', async () => {
    const long = page(
      'x'.repeat(300_000),
      block({ filler: 'y'.repeat(600_000) }),
      block(connection([[webAd(1)]], false)),
    );
    expect((await readPage(long)).ads).toHaveLength(1);
    const filler = connection([[webAd(1, { junk: 'z'.repeat(900_000) }), webAd(2)]], false);
    expect((await readPage(page(block(filler)))).ads).toHaveLength(2);
  });
});
