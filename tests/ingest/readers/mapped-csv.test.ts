import { describe, expect, test } from 'vitest';
import { loadMapping, MappingFault } from '#services/ingest/readers/formats/column-mapping.ts';
import { NO_TIME } from '#services/ingest/readers/scan-key.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { NEW_COLUMNS, OLD_COLUMNS, readRows, SCAN_NAME, type ScanRow } from '../fixtures/page-scans.ts';

describe('a mapping for scans of social pages', () => {
  test('reads brand and time from the file name, and the collector from the header', async () => {
    const { observations, ends, refused } = await readRows(SCAN_NAME, NEW_COLUMNS, [
      { ad_library_id: adId(1) },
    ]);
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
    const older = await readRows(SCAN_NAME, OLD_COLUMNS, [{ ad_library_id: adId(1) }]);
    expect(older.ends[0]?.coverage.collector).toBe('competitor-page-scan-1');
  });

  test('maps columns to fields, and reads blank columns as unknown', async () => {
    const blank = Object.fromEntries(OLD_COLUMNS.map((name) => [name, '']));
    const { ads } = await readRows(SCAN_NAME, NEW_COLUMNS, [
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

  test('merges rows of one ad into versions, with rows of other ads between them', async () => {
    const version = (key: string, body: string): ScanRow => ({
      ad_library_id: adId(1),
      version_index: key,
      version_primary_text: body,
      facebook_video_cdn_url_at_scrape: `https://cdn.example/${key}.mp4`,
    });
    const { ads } = await readRows(SCAN_NAME, NEW_COLUMNS, [
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
    const { ends } = await readRows(SCAN_NAME, NEW_COLUMNS, [
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
    const withBad = await readRows(SCAN_NAME, NEW_COLUMNS, [
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
    const header = await readRows(SCAN_NAME, ['name', 'price'], [{}]);
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
