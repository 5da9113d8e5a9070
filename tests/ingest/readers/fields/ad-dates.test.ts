import { describe, expect, test } from 'vitest';
import { loadMapping, MappingFault } from '#services/ingest/readers/formats/column-mapping.ts';
import { webAd } from '../../fixtures/export-shapes.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../../fixtures/export-files.ts';

const seconds = (date: string): number => Date.parse(date) / 1_000;

describe('a web ad that does not say whether it is active', () => {
  const readAd = async (more: object) => {
    await using folder = await ExportFolder.open();
    const { is_active: _, ...ad } = webAd(1) as { is_active: boolean };
    const { ads, notes } = await reading(await folder.file('a.json', JSON.stringify([{ ...ad, ...more }])));
    return { is_active: ads[0]?.is_active, stopped_on: ads[0]?.stopped_on, notes };
  };

  test('has ended when its end date is older than the day of the scan', async () => {
    expect(await readAd({ end_date: seconds('2026-01-10') })).toMatchObject({
      is_active: null,
      stopped_on: '2026-01-10',
    });
  });

  test('may still run when its end date is about the day of the scan, on which it was last seen', async () => {
    for (const day of ['2026-03-01', '2026-03-02', '2026-03-03'])
      expect(await readAd({ end_date: seconds(day) })).toMatchObject({ is_active: null, stopped_on: null });
  });

  test.each([
    ['yes', true],
    [1, true],
    ['t', true],
    ['1.0', true],
    ['INACTIVE', false],
    [0, false],
    ['ended', false],
    ['nan', null],
  ])('says it with %j: %j', async (is_active, flag) => {
    expect(await readAd({ is_active, end_date: null })).toMatchObject({ is_active: flag, notes: [] });
  });

  test('has an unknown flag with a note when it says something else', async () => {
    expect(await readAd({ is_active: 'paused', end_date: seconds('2026-01-10') })).toEqual({
      is_active: null,
      stopped_on: '2026-01-10',
      notes: ['is_active is neither yes nor no'],
    });
  });
});

test('dates in the future are unknown with a note, in every format', async () => {
  await using folder = await ExportFolder.open();
  const start_date = seconds('2031-01-01');
  const web = await reading(await folder.file('a.json', JSON.stringify([webAd(1, { start_date })])));
  expect(web.ads[0]?.started_on).toBeNull();
  expect(web.notes).toEqual(['start date in the future']);
  const csv = `id,ad_delivery_start_time,ad_delivery_stop_time,ad_creative_body\n${adId(1)},2026-01-01,2031-01-01,Warm`;
  const api = await reading(await folder.file('a.csv', csv));
  expect(api.ads[0]).toMatchObject({ started_on: '2026-01-01', stopped_on: null });
  expect(api.notes).toEqual(['stop date in the future']);
});

test('a date with slashes or points after its year is read as ISO 8601', async () => {
  await using folder = await ExportFolder.open();
  const dates = ['2026/01/01', '2026.01.01', '2026/01/01 08:00:00', '2026/13/01', '2026/01-01'];
  const rows = dates.map((day, at) => `${adId(at)},${day},Warm`);
  const csv = `id,ad_delivery_start_time,ad_creative_body\n${rows.join('\n')}`;
  const { ads, refused } = await reading(await folder.file('a.csv', csv));
  expect(ads.map(({ started_on }) => started_on)).toEqual(['2026-01-01', '2026-01-01', '2026-01-01']);
  expect(refused).toHaveLength(2);
});

describe('a mapping', () => {
  const FIELDS = {
    ad_id: ['id'],
    body: ['text'],
    started_on: ['from'],
    stopped_on: ['to'],
    is_active: ['on'],
  };
  const readMapped = async (
    record: object,
    dates?: object,
    { more = {}, options = OF_BRAND }: { more?: object; options?: object } = {},
  ) => {
    await using folder = await ExportFolder.open();
    const mapping = { name: 'own', fields: FIELDS, collector: 'own', complete: false, dates, ...more };
    const loaded = await loadMapping(await folder.file('mapping.json', JSON.stringify(mapping)));
    const content = JSON.stringify([{ id: adId(1), text: 'Warm', ...record }]);
    return await reading(await folder.file('a.json', content), { ...options, mapping: loaded });
  };

  test.each([
    ['DD.MM.YYYY', '31.01.2026', '2026-01-31'],
    ['MMM D, YYYY', 'Aug 12, 2025', '2025-08-12'],
    ['MMMM D, YYYY', 'August 2,  2025', '2025-08-02'],
    ['D MMM YYYY', '3 Sept. 2025', '2025-09-03'],
    ['M/D/YYYY, h:mm A', '8/12/2025, 3:15 PM', '2025-08-12'],
    ['[Started running on] MMM D, YYYY', 'Started running on Aug 12, 2025', '2025-08-12'],
    ['YYYYMMDD', '20260131', '2026-01-31'],
    [['DD.MM.YYYY', 'YYYY-MM-DD'], '2026-01-31', '2026-01-31'],
  ])('names the form %j of %j', async (form, from, day) => {
    const { ads, refused } = await readMapped({ from }, { started_on: form });
    expect(refused).toEqual([]);
    expect(ads[0]?.started_on).toBe(day);
  });

  test.each([
    ['MM/DD/YYYY', '31/01/2026'],
    ['DD.MM.YYYY', '30.02.2026'],
    ['DD.MM.YYYY', '2026-01-31'],
    ['D MMM YYYY', '3 Foo 2025'],
    [['DD/MM/YYYY', 'MM/DD/YYYY'], '01/02/2026'],
  ])('refuses what has not the form %j: %j', async (form, from) => {
    const { ads, refused } = await readMapped({ from }, { started_on: form });
    expect(ads).toEqual([]);
    expect(refused[0]?.what).toContain(`the start date "${from}" is not a date of the form`);
  });

  test.each(['31.01.2026', 'Aug 12, 2025', '01/02/2026'])('without a form refuses %s', async (from) => {
    const { refused } = await readMapped({ from });
    expect(refused).toMatchObject([
      { what: `the start date "${from}" is not a date`, advice: expect.stringContaining('mapping') },
    ]);
  });

  test('names the form of the scan time too, with the offset of the option', async () => {
    const more = { fields: { ...FIELDS, scanned_at: ['seen'] } };
    const options = { brand: 'lumen-socks.example', utcOffset: '+05:30' };
    const { ends } = await readMapped(
      { seen: '31.01.2026 08:00' },
      { scanned_at: 'DD.MM.YYYY HH:mm' },
      { more, options },
    );
    expect(ends[0]?.scanned_at).toBe('2026-01-31T02:30:00.000Z');
  });

  test.each(['DD.MM', 'DMYYYY', 'YYYY-MM-DD DD', 'D.M.YY', ''])(
    'with the form %j is refused',
    async (form) => {
      await expect(readMapped({}, { started_on: form })).rejects.toThrow(MappingFault);
    },
  );

  test('never takes an ad for active because of a flag that it cannot read', async () => {
    const more = { constants: { is_active: true } };
    const activity = async (record: object) =>
      (await readMapped(record, undefined, { more })).ads[0]?.is_active;
    expect(await activity({})).toBe(true);
    expect(await activity({ on: 'paused' })).toBeNull();
    expect(await activity({ to: '2026-01-31' })).toBeNull();
  });
});
