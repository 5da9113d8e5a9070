import { afterAll, beforeAll, expect } from 'vitest';
import { BASE_URL_MARK, BASE_URL_SQL } from '#contracts/values/base-url.ts';
import { withObservedLinks } from '#contracts/values/links/observed-link.ts';
import { BRAND_REFERENCE_SQL } from '#projections/shared-tables/brand-reference.ts';
import { type Database, openPool } from '#platform/postgres/pool.ts';
import { createTestDatabase } from '../../stack/database.ts';
import { attack } from '../attack.ts';

const resources = new AsyncDisposableStack();
let pool: Database;
beforeAll(async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  pool = openPool(database.url, 1);
  resources.defer(() => pool.end());
});
afterAll(() => resources.disposeAsync());

const LINKS: readonly (readonly [string, string | null])[] = [
  ['javascript:alert(1)', null],
  ['data:text/html,"<script>1</script>"', null],
  ['java\tscript:alert(1)', null],
  ['bank.example@evil.example/login', null],
  ['https://bank.example@evil.example/', 'https://evil.example/'],
  ['//evil.example/x', 'https://evil.example/x'],
  ['/ops/console', null],
  ['https://shop.example/boots?a="b"', 'https://shop.example/boots?a="b"'],
];

/** SQL by which read models write a record as JSON. `$1` is the link. */
const WRITTEN = {
  "a brand's reference": `select ${BRAND_REFERENCE_SQL} as json
    from (select 'b1' as brand_id, 'shop' as slug, 'Shop: "logo_url" : "x"' as name, $1::text as logo_url) b`,
  json_build_object: `select json_build_object('logo_url', $1::text, 'body', '"to_url" : "' || $1::text || '"')::text as json`,
  jsonb_build_object: `select jsonb_build_object('logo_url', $1::text, 'kind', 'url')::text as json`,
  'a column of jsonb': `select (('{"logo_url":' || to_json($1::text)::text || '}')::jsonb)::text as json`,
  row_to_json: `select row_to_json(r)::text as json from (select $1::text as logo_url) r`,
  'an indented record': `select jsonb_pretty(jsonb_build_object('logo_url', $1::text)) as json`,
} as const;

attack('links that Postgres wrote into a record are served in no URL field', async () => {
  let fields = 0;
  for (const [way, sql] of Object.entries(WRITTEN)) {
    for (const [link, served] of LINKS) {
      const { rows } = await pool.query<{ json: string }>(sql, [link]);
      const json = rows[0]?.json ?? '';
      const read = (text: string): Record<string, unknown> =>
        JSON.parse(text.replaceAll(BASE_URL_MARK, 'https://ads.example')) as Record<string, unknown>;
      expect(read(json), way).toMatchObject({ logo_url: link });
      expect(read(withObservedLinks(json)), `${way}: ${json}`).toEqual({ ...read(json), logo_url: served });
      fields += 1;
    }
  }
  const { rows } = await pool.query<{ json: string }>(
    `select replace(json_build_object('url', ${BASE_URL_SQL} || '/v1/ads/1')::text, '\\u0001', ${BASE_URL_SQL}) as json`,
  );
  expect(withObservedLinks(rows[0]?.json ?? '')).toBe(rows[0]?.json);
  return `${fields} fields written in ${Object.keys(WRITTEN).length} ways, 0 served as stored`;
});
