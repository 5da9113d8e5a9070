import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ReadOptions } from '#services/ingest/files/file-plan.ts';
import { ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { zip } from '../fixtures/workbook.ts';

const readAs = async (content: string | Buffer, options: ReadOptions = OF_BRAND, name = 'ads.json') => {
  await using folder = await ExportFolder.open();
  return await reading(await folder.file(name, content), options);
};

const bytes = (start: string, length = 600): Buffer =>
  Buffer.concat([
    Buffer.from(start, 'latin1'),
    Buffer.from(Array.from({ length }, (_, at) => (at * 37) % 256)),
  ]);

describe('the refusal names the kind of a file that is not an export', () => {
  test.each([
    ['a PDF', Buffer.from('%PDF-1.7\n1 0 obj'), 'is a PDF file, not an export'],
    ['a PNG', bytes('\u0089PNG\r\n\u001a\n'), 'is a PNG image, not an export'],
    ['a JPEG', bytes('\u00ff\u00d8\u00ff\u00e0'), 'is a JPEG image, not an export'],
    ['a GIF', bytes('GIF89a'), 'is a GIF image, not an export'],
    ['a WebP', bytes('RIFF\u0010\u0000\u0000\u0000WEBPVP8 '), 'is a WebP image, not an export'],
    ['a video', bytes('\u0000\u0000\u0000\u0018ftypmp42'), 'is a video or an image, not an export'],
    [
      'an old workbook',
      bytes('\u00d0\u00cf\u0011\u00e0\u00a1\u00b1'),
      'is an old Office file (XLS or DOC), not an export',
    ],
    ['a 7z archive', bytes('7z\u00bc\u00af\u0027\u001c'), 'is a 7z archive, not an export'],
    ['a database', bytes('SQLite format 3\u0000'), 'is an SQLite database, not an export'],
    ['an unknown binary file', bytes('\u0007\u0000\u0001'), 'is a binary file, not an export'],
    ['gzip in gzip', gzipSync(gzipSync('[]')), 'is gzip data inside gzip data'],
    ['a ZIP archive', zip({ 'ads.json': '[]' }), 'is a ZIP archive, not an export'],
    ['a Word document', zip({ 'word/document.xml': '<x/>' }), 'is a Word document, not an export'],
    ['a binary workbook', zip({ 'xl/workbook.bin': 'x' }), 'is a binary Excel workbook (XLSB)'],
    ['an OpenDocument file', zip({ 'content.xml': '<x/>' }), 'is an OpenDocument file (ODS or ODT)'],
    ['a ZIP archive in gzip', gzipSync(zip({ 'a.json': '[]' })), 'is a ZIP archive inside gzip data'],
    ['XML', '<?xml version="1.0"?><ads/>', 'is an XML file, not an export'],
    ['an RSS feed', '<rss version="2.0"></rss>', 'is an XML file, not an export'],
    [
      'a web archive',
      'From: <Saved by Blink>\r\nMIME-Version: 1.0\r\n',
      'is a web archive (MHTML), not an HTML page',
    ],
    [
      'a login page',
      '<!DOCTYPE html><html><title>Log in</title></html>',
      'is an HTML page without library data, with the title "Log in"',
    ],
    ['a fragment', '\n <div class="x">Log in</div>', 'is an HTML page without library data'],
  ])('%s', async (_, content, what) => {
    for (const options of [OF_BRAND, { ...OF_BRAND, format: 'web-graphql' as const }]) {
      const { observations, refused } = await readAs(content, options);
      expect(observations).toEqual([]);
      expect(refused.map((record) => [record.line, record.what])).toEqual([[1, what]]);
      expect(refused[0]?.advice).not.toBe('');
    }
  });

  test.each([
    ['BZh,domain\n1,shop.example\n', /unknown format: CSV with the columns BZh, domain/],
    ['GIF8,WEBP\n1,2\n', /unknown format: CSV with the columns GIF8, WEBP/],
  ])('a text that begins like a binary file is read as text: %j', async (content, what) => {
    expect((await readAs(content)).refused[0]?.what).toMatch(what);
  });
});
