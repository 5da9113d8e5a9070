import { describe, expect, test } from 'vitest';
import { AdWindow, FarAdFinder, type WholeAd } from '#services/ingest/files/merge-ad-rows.ts';
import { cardOfAd } from '#services/ingest/readers/fields/ad-fields.ts';
import { type AdRecord, NO_HINTS, type RefusedRecord } from '#services/ingest/readers/record.ts';
import { scanKeyOf } from '#services/ingest/readers/scan-key.ts';
import { ad } from '#tests/dsl/scans.ts';
import { adId, ExportFolder, OF_BRAND, reading } from '../fixtures/export-files.ts';
import { webAd } from '../fixtures/export-shapes.ts';

const BETWEEN = 1_200;
const OF_TIME = { option: '2026-03-02T08:00:00.000Z', fileName: null, utcOffset: null };

const rows = (...ofFirst: readonly object[]): readonly object[] => {
  const others = Array.from({ length: BETWEEN }, (_, at) => webAd(at + 2));
  return ofFirst.flatMap((row, at) => [row, ...(at === 0 ? others : [])]);
};
const version = (body: string): object => webAd(1, {}, { body: { text: body } });

const read = async (records: readonly object[]) => {
  await using folder = await ExportFolder.open();
  const options = { ...OF_BRAND, complete: true };
  return await reading(await folder.file('ads.json', JSON.stringify(records)), options);
};

describe('rows of an ad that are far apart in a file', () => {
  test('become one ad with versions', async () => {
    const { ads, refused, ends } = await read(rows(version('Warm'), version('Warmer'), version('Warm')));
    expect(refused).toEqual([]);
    expect(ads).toHaveLength(BETWEEN + 1);
    const [first, ...more] = ads.filter(({ ad_id }) => ad_id === adId(1));
    expect(more).toEqual([]);
    expect(first).toMatchObject({ body: 'Warm', versions: [{ body: 'Warm' }, { body: 'Warmer' }] });
    expect(ends[0]?.coverage.complete).toBe(true);
  });

  test('give one ad when they are equal', async () => {
    const { ads, refused } = await read(rows(version('Warm'), version('Warm')));
    expect(refused).toEqual([]);
    expect(ads.filter(({ ad_id }) => ad_id === adId(1))).toMatchObject([{ body: 'Warm', versions: [] }]);
    expect(ads).toHaveLength(BETWEEN + 1);
  });

  test('are refused by name when too many wait to be merged', () => {
    const scan = scanKeyOf(
      { brandDomain: 'a.example', brandName: null, countries: ['US'], times: OF_TIME },
      NO_HINTS,
    );
    const record = (number: number, line: number): AdRecord => {
      const one = ad(1_000 + number);
      return {
        kind: 'ad',
        line,
        raw: 'x'.repeat(100),
        ad: one,
        version: { key: null, card: cardOfAd(one) },
        hints: NO_HINTS,
      };
    };
    const order = [1, 2, ...Array.from({ length: BETWEEN }, (_, at) => at + 3), 1, 2];
    const run = (window: AdWindow): (WholeAd | RefusedRecord)[] => [
      ...order.flatMap((number, at) => [...window.add(scan, record(number, at + 1))]),
      ...window.end(),
    ];
    const finder = new FarAdFinder();
    for (const item of run(new AdWindow())) if (item.kind === 'whole_ad') finder.add(item);
    expect([...finder.far.values()]).toEqual([BETWEEN + 3, BETWEEN + 4]);

    const items = run(new AdWindow(finder.far, 150));
    expect(items.filter(({ kind }) => kind === 'whole_ad')).toHaveLength(BETWEEN + 1);
    expect(items.filter((item) => item.kind === 'refused')).toMatchObject(
      [2, BETWEEN + 4].map((line) => ({
        line,
        adId: ad(1_002).ad_id,
        what: 'belongs to an ad whose rows are too far apart in the file to be merged',
      })),
    );
  });
});
