import { describe, expect, test } from 'vitest';
import { type AdLibraryScanChunk, SCAN_CHUNKS_MAX } from '#contracts/observations/ad-library-scan.ts';
import { OBSERVATION_MAX_BYTES } from '#contracts/observations/index.ts';
import { chunkBytesMax, ScanChunks } from '#services/ingest/files/scan-chunks.ts';
import { withCountries } from '#services/ingest/readers/scan-key.ts';
import { ad } from '#tests/dsl/scans.ts';
import { adId, ExportFolder, reading } from '../fixtures/export-files.ts';
import { webAd } from '../fixtures/export-shapes.ts';

const KEY = withCountries(
  { brandDomain: 'shop.example', brandName: null, scannedAt: '2026-03-02T08:00:00.000Z' },
  ['US'],
);

describe('the chunks of a scan', () => {
  test('are at most as many as the contract allows', () => {
    const chunks = new ScanChunks(1);
    const one = ad(1);
    const closed = (): number => [...chunks.add('scan', KEY, one)].length;
    expect(closed()).toBe(0);
    for (let count = 1; count < SCAN_CHUNKS_MAX; count += 1)
      if (closed() !== 1) throw new Error('not closed');
    expect([...chunks.end()].map(({ chunk }) => chunk)).toEqual([SCAN_CHUNKS_MAX - 1]);
    expect(closed()).toBe(0);
    expect(() => [...chunks.end()]).toThrow(`has more than ${SCAN_CHUNKS_MAX} chunks. Split the file.`);
  });

  test('are smaller in a file of many scans, so that all open chunks fit into memory', () => {
    expect(chunkBytesMax(16)).toBe(chunkBytesMax(1));
    for (const scans of [1, 16, 17, 32, 33, 1_000])
      expect(scans * chunkBytesMax(scans)).toBeLessThanOrEqual(16 * OBSERVATION_MAX_BYTES);
  });
});

type Ads = readonly (readonly [number: number, hour: number])[];

const chunksOf = async (ads: Ads): Promise<ReadonlyMap<string, readonly AdLibraryScanChunk[]>> => {
  await using folder = await ExportFolder.open();
  const records = ads.map(([number, hour]) =>
    webAd(number, { scraped_at: `2026-03-02T${String(hour).padStart(2, '0')}:00:00Z` }),
  );
  const { observations } = await reading(await folder.file('a.json', JSON.stringify(records)), {
    brand: 'lumen-socks.example',
  });
  return Map.groupBy(
    observations.filter((one) => one.type === 'ad_library.scan'),
    ({ scanned_at }) => scanned_at,
  );
};
const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
const AT = (hour: number): string => `2026-03-02T${String(hour).padStart(2, '0')}:00:00.000Z`;
const MANY = 600;

describe('a scan id', () => {
  test('of a scan of several chunks is another one when the ads are in another order', async () => {
    const [inOrder, reversed] = await Promise.all([
      chunksOf(range(MANY).map((number) => [number, 8])),
      chunksOf(
        range(MANY)
          .toReversed()
          .map((number) => [number, 8]),
      ),
    ]);
    const [first, second] = [inOrder.get(AT(8)) ?? [], reversed.get(AT(8)) ?? []];
    expect(first).toHaveLength(3);
    expect(second).toHaveLength(3);
    expect(first[0]?.ads.map(({ ad_id }) => ad_id)).toContain(adId(0));
    expect(second[0]?.ads.map(({ ad_id }) => ad_id)).not.toContain(adId(0));
    expect(second[0]?.scan_id).not.toBe(first[0]?.scan_id);
  });

  test('and the chunks stay the same when a file has other scans between its ads', async () => {
    const alone = await chunksOf(range(MANY).map((number) => [number, 8]));
    const among = await chunksOf(
      range(MANY).flatMap(
        (number): Ads => [
          [number, 8],
          [number, 0],
          [number + MANY, 16],
        ],
      ),
    );
    expect(among.size).toBe(3);
    expect(among.get(AT(8))).toEqual(alone.get(AT(8)));
  });

  test('is another one when an ad of the same id has another content', async () => {
    await using folder = await ExportFolder.open();
    const idOf = async (text: string) =>
      (await reading(await folder.file('a.json', JSON.stringify([webAd(1, {}, { body: { text } })])))).ends[0]
        ?.scan_id;
    expect(await idOf('Warm feet')).toBe(await idOf('Warm feet'));
    expect(await idOf('Warm feet')).not.toBe(await idOf('Cold feet'));
  });
});
