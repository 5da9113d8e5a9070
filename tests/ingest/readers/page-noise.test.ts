import { expect, test } from 'vitest';
import { adId } from '../fixtures/export-files.ts';
import { NEW_COLUMNS, OLD_COLUMNS, readRows, SCAN_NAME } from '../fixtures/page-scans.ts';

test.each([
  ['the timer of a video', 'Warm feet\nAll year\n0:00 / 0:45', 'Warm feet\nAll year', null],
  ['a notice at the end of a line', 'Warm feet Low impression count', 'Warm feet', null],
  ['a notice', 'Low impression count\nWarm feet\nLow impression count', 'Warm feet', null],
  [
    'the notice of a player with its link',
    "Warm feet\nSorry, we're having trouble with playing this video.\nLearn more",
    'Warm feet',
    null,
  ],
  ['a headline after a timer', 'Warm feet\n0:00 / 0:45\nSocks for all', 'Warm feet', 'Socks for all'],
  ['a headline after an address', 'Warm feet\nSHOP.EXAMPLE\nSocks\nFor all', 'Warm feet', 'Socks'],
  ['two page elements', 'Warm feet\nLow impression count\n0:00 / 1:45\nSocks', 'Warm feet', 'Socks'],
  ['no page element', 'Warm feet\nAT 9.30\nLearn more here', 'Warm feet\nAT 9.30\nLearn more here', null],
  ['a copy after an address', 'A\nSHOP.EXAMPLE\nB\nC\nD\nE', 'A\nSHOP.EXAMPLE\nB\nC\nD\nE', null],
])('separates the copy of the older program from %s', async (_, exported, body, link_description) => {
  const { ads } = await readRows(SCAN_NAME, OLD_COLUMNS, [
    { ad_library_id: adId(1), ad_primary_text: exported, ad_description: '', ad_cta_label: '' },
  ]);
  expect(ads[0]).toMatchObject({ body, link_description, cta_text: null });
});

test('separates address, headline and button, and agrees with the newer program', async () => {
  const { ads } = await readRows(SCAN_NAME, OLD_COLUMNS, [
    {
      ad_library_id: adId(1),
      ad_primary_text: 'Warm feet\n0:00 / 0:45\nSHOP.EXAMPLE\nSocks for all\nInstall Now',
      ad_description: 'Install now',
      ad_cta_label: '',
    },
    {
      ad_library_id: adId(2),
      ad_primary_text: 'Warm feet\nSocks for all\nInstall Now',
      ad_description: 'Warm feet',
      ad_cta_label: 'Install Now',
    },
  ]);
  const newer = await readRows(SCAN_NAME, NEW_COLUMNS, [
    { ad_library_id: adId(1), ad_description: 'Socks for all', ad_cta_label: 'Install now' },
  ]);
  const texts = (ad = newer.ads[0]) => [ad?.body, ad?.link_description, ad?.cta_text];
  expect(ads.map(texts)).toEqual([texts(), texts()]);
  expect(ads.map(({ caption }) => caption)).toEqual(['shop.example', null]);
});

test.each([
  ['Learn More', '', null, 'Learn more'],
  ['Use App', 'Take The Quiz', 'Take The Quiz', 'Use app'],
  ['All year', 'Take The Quiz', 'All year', 'Take The Quiz'],
])('reads the button %j with the label %j of the older program', async (description, label, text, button) => {
  const { ads } = await readRows(SCAN_NAME, OLD_COLUMNS, [
    { ad_library_id: adId(1), ad_description: description, ad_cta_label: label },
  ]);
  expect(ads[0]).toMatchObject({ body: 'Warm feet', link_description: text, cta_text: button });
});

test('leaves the texts of the newer program unchanged', async () => {
  const body = 'Warm feet \n0:00 / 0:45\nInstall now';
  const { ads } = await readRows(SCAN_NAME, NEW_COLUMNS, [{ ad_library_id: adId(1), ad_primary_text: body }]);
  expect(ads[0]).toMatchObject({ body, link_description: 'All year', cta_text: 'Install now' });
});
