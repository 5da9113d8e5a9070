import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ObservedAd } from '#contracts/observations/ad-library-scan.ts';
import { ObservedProduct } from '#contracts/observations/storefront-scan.ts';
import { usageOf } from '#domain/collecting/pace.ts';
import { libraryAdOf } from '#domain/shapes/library-ad.ts';
import { shopifyProductOf } from '#domain/shapes/shopify-product.ts';
import { readSettings } from '#platform/settings.ts';
import { readArchiveAnswer } from '#services/collector/ads-archive/archive-client.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const { AD_DATA_DIR } = readSettings(z.object({ AD_DATA_DIR: z.string().default('../shared/data') }));
const folder = resolve(PROJECT, AD_DATA_DIR);
const absent = !existsSync(folder);
if (absent)
  console.warn(
    `tests of recorded shapes are skipped: there is no folder ${folder}; name it with AD_DATA_DIR`,
  );

/** Money, people, and addresses with a token. */
const NEVER_READ = /spend|impressions|currency|reach|snapshot|access_token|funding/i;
const SCOPE = { isActive: true, scannedOn: '2022-11-14' };

type Recorded = {
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: {
      readonly data: readonly Record<string, unknown>[];
      readonly paging: { cursors: { after: string } };
    };
  };
};

describe.skipIf(absent)('recorded answers', () => {
  test('of the library API are read with cursor and meter, and no money', () => {
    const text = readFileSync(join(folder, 'ads-archive/radlibrary-v5-one-ad.json'), 'utf8');
    const { status, headers, body } = (JSON.parse(text) as Recorded).response;
    const answer = readArchiveAnswer(status, Buffer.from(JSON.stringify(body)), []);
    expect(answer).toEqual({ kind: 'page', ads: body.data, after: body.paging.cursors.after });
    expect(usageOf(headers)).toMatchObject({ percent: 0 });
    const [recorded = {}] = body.data;
    const pageIds = [String(recorded['page_id'])];
    // The recorded request did not ask for the id.
    expect(libraryAdOf(recorded, { ...SCOPE, pageIds })).toEqual({ refused: 'an ad has no id' });
    const mapped = libraryAdOf({ ...recorded, id: '2487345651520779' }, { ...SCOPE, pageIds });
    expect(mapped).toMatchObject({
      ad: { page_id: pageIds[0], started_on: '2019-12-03', stopped_on: '2020-03-03' },
    });
    expect(JSON.stringify(mapped)).not.toMatch(NEVER_READ);
  });

  test('of 1,100 political ads are all mapped, each to a valid ad', () => {
    const file = join(folder, 'epi/citizens-energizing-michigan-2022-11-14.csv.gz');
    const rows = parse<Record<string, string>>(gunzipSync(readFileSync(file)), { columns: true });
    expect(rows).toHaveLength(1_100);
    for (const row of rows) {
      const { page_id: pageId = '', ad_creative_bodies: body, publisher_platforms: platforms = '' } = row;
      const value = {
        ...row,
        ad_creative_bodies: [body],
        publisher_platforms: platforms.replaceAll(/[[\]' ]/g, '').split(','),
      };
      const mapped = libraryAdOf(value, { ...SCOPE, pageIds: [pageId] });
      if ('refused' in mapped) throw new Error(mapped.refused);
      expect(ObservedAd.safeParse(mapped.ad).success).toBe(true);
      expect(mapped.ad).toMatchObject({ ad_id: row['id'], body: body?.trim() || null, link_url: null });
      expect(Object.keys(mapped.ad).join()).not.toMatch(NEVER_READ);
    }
  });

  test('of a shop are all mapped to valid products', () => {
    const file = join(folder, 'shopify/kiidskingdom-products-page1.json.gz');
    const { products } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
      products: Record<string, unknown>[];
    };
    expect(products.length).toBeGreaterThan(0);
    for (const product of products) {
      const mapped = shopifyProductOf(product);
      expect(ObservedProduct.safeParse(mapped).success).toBe(true);
      expect(mapped).toMatchObject({ id: String(product['id']), handle: product['handle'] });
      expect(mapped.variants).toHaveLength((product['variants'] as unknown[]).length);
    }
  });
});
