import { expect, test } from 'vitest';
import { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import { ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { actorAd, webAd } from '../fixtures/export-shapes.ts';

const read = async (ads: readonly object[]) => {
  await using folder = await ExportFolder.open();
  const { ads: result, refused } = await reading(
    await folder.file('export.json', JSON.stringify(ads)),
    OF_BRAND,
  );
  expect(refused).toEqual([]);
  return result.map((ad) => ad.branded_content);
};

const MAYA = { page_id: '500000000000077', page_name: 'Maya Tries Things' };

test.each([
  ['from id and name', { page_id: MAYA.page_id, page_name: MAYA.page_name, page_like_count: 5 }, MAYA],
  [
    'from an address with an id',
    { page_name: MAYA.page_name, page_profile_uri: 'https://facebook.com/500000000000077/' },
    MAYA,
  ],
  [
    'from the name alone, when the address has no id',
    { page_name: MAYA.page_name, page_profile_uri: 'https://facebook.com/mayatries' },
    { ...MAYA, page_id: null },
  ],
  ['as absent, when it is null', null, undefined],
  ['as absent, when id and name are blank', { page_id: null, page_name: ' ' }, undefined],
])('the partner is read %s', async (_how, branded_content, expected) => {
  expect(await read([webAd(1, {}, { branded_content })])).toEqual([expected]);
});

test('the partner is read from rows of a scraping actor', async () => {
  const brandedContent = { pageId: MAYA.page_id, pageName: MAYA.page_name };
  expect(await read([actorAd(1, {}, { brandedContent }), actorAd(2)])).toEqual([MAYA, undefined]);
});

test.each([
  { page_id: null, page_name: null },
  { page_id: 'maya', page_name: null },
  { page_id: null, page_name: ' ' },
])('the partner %j is refused', (partner) => {
  expect(BrandedContent.safeParse(partner).success).toBe(false);
});
