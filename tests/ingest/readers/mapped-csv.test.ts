import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadMapping, MappingFault } from '#services/ingest/readers/formats/column-mapping.ts';
import { NO_TIME } from '#services/ingest/readers/scan-key.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';

const MAPPING = fileURLToPath(
  new URL('../../../services/ingest/mappings/competitor-page-scan.json', import.meta.url),
);
const BRANDS = JSON.stringify({
  brands: [{ group: 'lumen-socks', name: 'Lumen Socks', domain: 'lumen-socks.example' }],
});

const OLD_COLUMNS = [
  'facebook_page_id',
  'facebook_page_name',
  'target_country',
  'ad_library_id',
  'ad_start_date',
  'ad_end_date',
  'ad_primary_text',
  'ad_description',
  'ad_cta_label',
  'ad_destination_url',
  'ad_media_type',
  'ad_distribution_platforms',
  'facebook_video_cdn_url_at_scrape',
  'facebook_thumbnail_cdn_url_at_scrape',
] as const;
const NEW_COLUMNS = [
  ...OLD_COLUMNS,
  'version_index',
  'version_id',
  'version_primary_text',
  'version_description',
  'version_cta_label',
  'version_destination_url',
] as const;
type Row = { readonly [Column in (typeof NEW_COLUMNS)[number]]?: string };

const USUAL: Row = {
  facebook_page_id: '400000000000011',
  facebook_page_name: 'Lumen Socks',
  target_country: 'IN',
  ad_start_date: '2026-02-01',
  ad_primary_text: 'Warm feet',
  ad_description: 'All year',
  ad_cta_label: 'Install Now',
  ad_destination_url: 'https://lumen-socks.example',
  ad_media_type: 'Video',
  ad_distribution_platforms: 'Facebook, Audience Network',
  facebook_video_cdn_url_at_scrape: 'https://cdn.example/v.mp4',
  facebook_thumbnail_cdn_url_at_scrape: 'https://cdn.example/p.jpg',
};

const csv = (columns: readonly string[], rows: readonly Row[]): string =>
  [
    columns.join(','),
    ...rows.map((row) =>
      columns
        .map((name) => `"${({ ...USUAL, ...row }[name as keyof Row] ?? '').replaceAll('"', '""')}"`)
        .join(','),
    ),
  ].join('\n');

const readRows = async (name: string, columns: readonly string[], rows: readonly Row[], more = {}) => {
  await using folder = await ExportFolder.open();
  const mapping = await loadMapping(MAPPING, await folder.file('brands.json', BRANDS));
  return await reading(await folder.file(name, csv(columns, rows)), { mapping, ...more });
};

const NAME = 'fb-ads-lumen-socks-2026-03-02-1015-v2.csv.gz';

describe('a mapping for scans of social pages', () => {
  test('reads brand and time from the file name, and the collector from the header', async () => {
    const { observations, ends, refused } = await readRows(NAME, NEW_COLUMNS, [{ ad_library_id: adId(1) }]);
    expect(refused).toEqual([]);
    expect(observations[0]).toMatchObject({
      type: 'brand.profile',
      domain: 'lumen-socks.example',
      name: 'Lumen Socks',
      observed_at: '2026-03-02T04:45:00.000Z',
    });
    expect(ends[0]).toMatchObject({
      brand_domain: 'lumen-socks.example',
      scanned_at: '2026-03-02T04:45:00.000Z',
      coverage: {
        pages: [{ page_id: '400000000000011', page_name: 'Lumen Socks' }],
        countries: ['IN'],
        complete: true,
        collector: 'competitor-page-scan-2',
      },
    });
    const older = await readRows(NAME, OLD_COLUMNS, [{ ad_library_id: adId(1) }]);
    expect(older.ends[0]?.coverage.collector).toBe('competitor-page-scan-1');
  });

  test('maps columns to fields, and reads blank columns as unknown', async () => {
    const blank = Object.fromEntries(OLD_COLUMNS.map((name) => [name, '']));
    const { ads } = await readRows(NAME, NEW_COLUMNS, [
      { ad_library_id: adId(1) },
      { ...blank, ad_library_id: adId(2), ad_distribution_platforms: '4 platforms' },
      { ad_library_id: adId(3), ad_end_date: '2026-02-20' },
    ]);
    expect(ads[0]).toEqual({
      ad_id: adId(1),
      page_id: '400000000000011',
      page_name: 'Lumen Socks',
      is_active: true,
      started_on: '2026-02-01',
      stopped_on: null,
      body: 'Warm feet',
      title: null,
      link_description: 'All year',
      caption: null,
      cta_type: null,
      cta_text: 'Install now',
      link_url: 'https://lumen-socks.example',
      format: 'video',
      platforms: ['audience_network', 'facebook'],
      languages: null,
      media: [{ kind: 'video', url: 'https://cdn.example/v.mp4', poster_url: 'https://cdn.example/p.jpg' }],
      cards: [],
      versions: [],
    });
    expect(ads[1]).toMatchObject({
      page_id: null,
      body: null,
      platforms: null,
      link_url: null,
      media: [],
      started_on: null,
    });
    expect(ads[2]).toMatchObject({ is_active: null, stopped_on: '2026-02-20' });
  });

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
    const { ads } = await readRows(NAME, OLD_COLUMNS, [
      { ad_library_id: adId(1), ad_primary_text: exported, ad_description: '', ad_cta_label: '' },
    ]);
    expect(ads[0]).toMatchObject({ body, link_description, cta_text: null });
  });

  test('separates address, headline and button, and agrees with the newer program', async () => {
    const { ads } = await readRows(NAME, OLD_COLUMNS, [
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
    const newer = await readRows(NAME, NEW_COLUMNS, [
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
  ])(
    'reads the button %j with the label %j of the older program',
    async (description, label, text, button) => {
      const { ads } = await readRows(NAME, OLD_COLUMNS, [
        { ad_library_id: adId(1), ad_description: description, ad_cta_label: label },
      ]);
      expect(ads[0]).toMatchObject({ body: 'Warm feet', link_description: text, cta_text: button });
    },
  );

  test('leaves the texts of the newer program unchanged', async () => {
    const body = 'Warm feet \n0:00 / 0:45\nInstall now';
    const { ads } = await readRows(NAME, NEW_COLUMNS, [{ ad_library_id: adId(1), ad_primary_text: body }]);
    expect(ads[0]).toMatchObject({ body, link_description: 'All year', cta_text: 'Install now' });
  });

  test('merges rows of one ad into versions, with rows of other ads between them', async () => {
    const version = (key: string, body: string): Row => ({
      ad_library_id: adId(1),
      version_index: key,
      version_primary_text: body,
      facebook_video_cdn_url_at_scrape: `https://cdn.example/${key}.mp4`,
    });
    const { ads } = await readRows(NAME, NEW_COLUMNS, [
      version('0', 'Warm'),
      { ad_library_id: adId(2) },
      version('1', 'Warm'),
    ]);
    expect(ads.map(({ ad_id, versions, media }) => [ad_id, versions.length, media.length])).toEqual([
      [adId(1), 2, 2],
      [adId(2), 0, 1],
    ]);
  });

  test('yields one scan per set of countries', async () => {
    const { ends } = await readRows(NAME, NEW_COLUMNS, [
      { ad_library_id: adId(1) },
      { ad_library_id: adId(2), target_country: 'ALL' },
    ]);
    expect(ends.map(({ coverage }) => coverage.countries)).toEqual([['IN'], ['ALL']]);
    expect(new Set(ends.map(({ scan_id }) => scan_id)).size).toBe(2);
  });

  test('is not complete for a rejects file, or when a row is refused', async () => {
    const refused = await readRows('fb-ads-lumen-socks-2026-03-02-1015.refused.csv', NEW_COLUMNS, [
      { ad_library_id: adId(1) },
    ]);
    expect(refused.ends[0]).toMatchObject({
      scanned_at: '2026-03-02T04:45:00.000Z',
      coverage: { complete: false },
    });
    const withBad = await readRows(NAME, NEW_COLUMNS, [
      { ad_library_id: adId(1) },
      { ad_library_id: 'none' },
    ]);
    expect(withBad.ends[0]?.coverage.complete).toBe(false);
  });

  test('refuses an unknown group, a file name without time, and an unexpected header, each in one line', async () => {
    const group = await readRows('fb-ads-nobody-2026-03-02-1015.csv', NEW_COLUMNS, [
      { ad_library_id: adId(1) },
    ]);
    expect(group.refused.map(({ what }) => what)).toEqual([
      'belongs to a scan without a brand: the group "nobody" of its name is not in the brands file',
    ]);
    const nameless = await readRows('scan.csv', NEW_COLUMNS, [{ ad_library_id: adId(1) }], {
      brand: OF_BRAND.brand,
    });
    expect(nameless.refused.map(({ advice }) => advice)).toEqual([NO_TIME.advice]);
    const header = await readRows(NAME, ['name', 'price'], [{}]);
    expect(header.observations).toEqual([]);
    expect(header.refused.map(({ what }) => what)).toEqual([
      'has an unexpected header: missing ad_library_id, ad_primary_text (found name, price)',
    ]);
  });
});

test('a custom mapping reads brand, time and countries from columns', async () => {
  await using folder = await ExportFolder.open();
  const mapping = await loadMapping(
    await folder.file(
      'mapping.json',
      JSON.stringify({
        name: 'own',
        columns: {
          ad_id: ['Ad', 'Id'],
          brand_domain: ['Brand'],
          scanned_at: ['Seen'],
          body: ['Text', 'Copy'],
        },
        variants: [{ collector: 'own-1', has_columns: [] }],
        complete: false,
      }),
    ),
  );
  const path = await folder.file(
    'own.csv',
    `Id;Brand;Seen;Text;Copy;Spend\n${adId(1)};https://www.Lumen-Socks.example/;2026-03-02 10:00:00+01:00;;Warm;9\n${adId(2)};;2026-03-02T09:00:00Z;Soft;;9\n`,
  );
  const { ads, ends, refused } = await reading(path, { mapping });
  expect(ads).toMatchObject([{ ad_id: adId(1), body: 'Warm' }]);
  expect(ends[0]).toMatchObject({
    brand_domain: 'lumen-socks.example',
    scanned_at: '2026-03-02T09:00:00.000Z',
  });
  expect(refused).toMatchObject([{ line: 3, what: 'belongs to a scan without a brand' }]);
});

test.each([
  ['not JSON', '{', /cannot be read as JSON/],
  ['of another shape', '{"name":"x","columns":{"spend":["a"]}}', /is not valid[\s\S]*spend/],
])('a mapping file that is %s is refused with its path', async (_, content, message) => {
  await using folder = await ExportFolder.open();
  const path = await folder.file('mapping.json', content);
  await expect(loadMapping(path)).rejects.toThrow(message);
  await expect(loadMapping(path)).rejects.toBeInstanceOf(MappingFault);
});
