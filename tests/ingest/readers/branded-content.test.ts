import { expect, test } from 'vitest';
import { BrandedContent } from '#contracts/observations/ad-library-scan.ts';
import { ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { actorAd, webAd } from '../fixtures/export-shapes.ts';

/** The partner of a branded-content ad, as the shapes of the library's site show it. */
const read = async (ads: readonly object[]) => {
  await using folder = await ExportFolder.open();
  const { ads: found, refused } = await reading(
    await folder.file('export.json', JSON.stringify(ads)),
    OF_BRAND,
  );
  expect(refused).toEqual([]);
  return found.map((ad) => ad.branded_content);
};

const MAYA = { page_id: '500000000000077', page_name: 'Maya Tries Things' };

test.each([
  ['by id and name', { page_id: MAYA.page_id, page_name: MAYA.page_name, page_like_count: 5 }, MAYA],
  [
    'by an address that is an id',
    { page_name: MAYA.page_name, page_profile_uri: 'https://facebook.com/500000000000077/' },
    MAYA,
  ],
  [
    'by name alone, with an address that is none',
    { page_name: MAYA.page_name, page_profile_uri: 'https://facebook.com/mayatries' },
    { ...MAYA, page_id: null },
  ],
  ['not at all', null, undefined],
  ['by nothing', { page_id: null, page_name: ' ' }, undefined],
])('is read %s', async (_how, branded_content, expected) => {
  expect(await read([webAd(1, {}, { branded_content })])).toEqual([expected]);
});

test('is read from the rows of the actor', async () => {
  const brandedContent = { pageId: MAYA.page_id, pageName: MAYA.page_name };
  expect(await read([actorAd(1, {}, { brandedContent }), actorAd(2)])).toEqual([MAYA, undefined]);
});

test.each([
  { page_id: null, page_name: null },
  { page_id: 'maya', page_name: null },
  { page_id: null, page_name: 'x'.repeat(501) },
])('is refused as %j', (partner) => {
  expect(BrandedContent.safeParse(partner).success).toBe(false);
});
