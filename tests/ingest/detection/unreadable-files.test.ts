import { describe, expect, test } from 'vitest';
import { ExportFolder, reading } from '../fixtures/export-files.ts';

/** Refusal of a file without a record, which names the cause. */
const refusalOf = async (content: string, name = 'reply.json') => {
  await using folder = await ExportFolder.open();
  const { observations, refused } = await reading(await folder.file(name, content));
  expect(observations).toEqual([]);
  expect(refused).toHaveLength(1);
  return refused[0];
};

describe('an error reply of an API', () => {
  test.each([
    ['{"error": {"message": "Invalid token", "code": 190}}', ': Invalid token'],
    ['{"message": "rate limited"}', ': rate limited'],
    ['{"success": false, "data": [], "error": "No credits left"}', ': No credits left'],
    [
      '{"errors": [{"message": "Field does not exist", "path": ["a"]}], "data": null}',
      ': Field does not exist',
    ],
    ['{"statusCode": 429, "error": "Too Many Requests", "message": "slow down"}', ': Too Many Requests'],
    ['{"detail": "Not authenticated"}', ': Not authenticated'],
    ['{"type": "about:blank", "title": "Forbidden", "status": 403}', ': Forbidden'],
    ['[{"error_message": "Page not found"}]', ': Page not found'],
    ['{"error": true}', ''],
  ])('is named: %s', async (content, message) => {
    const refused = await refusalOf(content);
    expect(refused?.what).toBe(`is an error reply of an API without records${message}`);
    expect(refused?.advice).toContain('fetch it again');
  });

  test.each([
    'Too Many Requests',
    'error: quota exceeded',
    '502 Bad Gateway',
    'Rate limit exceeded, try later',
  ])('is named when it is a text: %s', async (content) =>
    expect((await refusalOf(content))?.what).toContain(`error message and no export: "${content}"`),
  );
});

describe('a page', () => {
  const html = (head: string, body: string) =>
    `<!DOCTYPE html><html><head>${head}</head><body>${body}</body></html>`;
  test.each([
    [
      'an error',
      html('<title>429 Too Many &amp; more</title>', '<h1>no</h1>'),
      'is an HTML page without library data, with the title "429 Too Many & more"',
    ],
    [
      'a login',
      html('<title>Log in</title>', '<input name="p" type="password">'),
      'is a login page, with the title "Log in"',
    ],
    [
      'a rendered library page',
      html('<title>Library</title>', '<a href="/ads/library/?id=7100000000000014">Ad</a>'),
      'is a page of the ad library that was saved as it is displayed, without the data of its results, with the title "Library"',
    ],
    ['without a title', html('', ''), 'is an HTML page without library data'],
  ])('without data is named: %s', async (_, content, what) => {
    const refused = await refusalOf(content, 'page.html');
    expect(refused?.what).toBe(what);
    expect(refused?.advice).toContain('save the source');
  });
});

test.each([
  ['[]', 'has no JSON record'],
  ['{}', 'has an unknown format; no known shape is near'],
  ['{"success": true, "ads": [], "total": 0}', 'has no record: ads is an empty list'],
  [
    '{"ad_archive_id": {"0": "7100000000000014"}, "snapshot": {"0": {}}}',
    'is a data frame written by columns',
  ],
  [
    '{"id": {"0": "7100000000000014"}, "ad_creative_bodies": {"0": ["Warm"]}}',
    'is a data frame written by col',
  ],
  ['{"id": ["7100000000000014"], "ad_creative_bodies": [["Warm"]]}', 'is a data frame written by columns'],
  ['{"columns": ["id"], "index": [0], "data": [["7100000000000014"]]}', 'is a data frame written by columns'],
  [
    '[{"id": 1, "message": "Warm feet", "status": "active"}]',
    'has an unknown format; no known shape is near',
  ],
  ['{"id": "a", "title": "Boot", "status": "ACTIVE"}', 'has an unknown format; no known shape is near'],
  [
    '{"ads": [{"x": 1,}]}',
    'has no record that can be read: line 1 is not JSON: Expected double-quoted property name',
  ],
  [
    "[{'ad_archive_id': None}]",
    "has no record that can be read: line 1 is a Python value and not JSON: it has ' around its names",
  ],
  ['window.__DATA__ = {"ads": []};', 'is a script and no JSON'],
  ['callback({"ads": []})', 'is a script and no JSON'],
  ['var ads = [{"ad_archive_id":"7100000000000014","page_id":"1"}];', 'is a script and no JSON'],
  ['id,ad_creative_bodies\r7100000000000014,Warm\r', 'line 1 ends with CR alone'],
  ['id,"a"b\n', 'has no row that can be read: line 1'],
  ['hello', 'has an unknown format: text without columns, with the first line "hello"'],
  ['{"id": 1, "name": "x"}', 'has an unknown format; no known shape is near (found: id, name)'],
  [
    '[{"url": "https://a.example", "domain": "a.example", "scanned_at": 1}]',
    'has an unknown format; no known shape is near',
  ],
  ['[{"title": "a", "handle": "b", "variants": {"price": 1}}]', 'the nearest known shape is storefront-json'],
])('%s is refused with its cause', async (content, what) => {
  expect((await refusalOf(content))?.what).toContain(what);
});
