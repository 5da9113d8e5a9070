import { expect, test } from 'vitest';
import { HEAD_BYTES, mediaTypeOf } from '#application/media/media-type.ts';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { analysisOfServed } from '#deploy/local/demo/generators/creative-files.ts';
import { livingWorldOf, withOpening } from '#deploy/local/demo/living/living-world.ts';
import { scansOfTracked } from '#deploy/local/demo/living/observations-between.ts';
import { buildWorld } from '#deploy/local/demo/world/world.ts';
import { answerMedia, creativeKeyOf } from '#deploy/local/demo/pictures/media-world.ts';
import { HOUR_MS } from '#contracts/values/time.ts';
import { CreativeAnalysis } from '#contracts/observations/creative.ts';

const SIZE = { seed: 7, brands: 12, ads: 200, days: 12 };
const world = buildWorld(SIZE);
const UNTIL = '2026-03-01';
const NOW = new Date(`${UNTIL}T00:00:00Z`);
const observations = [...demoObservations({ ...SIZE, until: UNTIL, pictures: true })];
const media = observations.flatMap((one) =>
  one.type === 'ad_library.scan' ? one.ads.flatMap(({ media: shown }) => shown) : [],
);
const addressesOf = (shown: typeof media): string[] =>
  shown.flatMap(({ url, poster_url }) => [url, poster_url]).filter((url) => url !== null);
const addresses = addressesOf(media);

test('a demo with pictures has no files of its own', () => {
  expect(observations.some(({ type }) => type === 'creative.file' || type === 'creative.analysis')).toBe(
    false,
  );
});

test('the played library serves each address of its latest scans, with the same bytes each time', async () => {
  const valid = addresses.filter(
    (url) => Number.parseInt(new URL(url).searchParams.get('oe') ?? '', 16) * 1_000 > NOW.getTime(),
  );
  const names = [...new Map(valid.map((url) => [url.split('?', 1)[0], url])).values()];
  expect(names.length).toBeGreaterThan(30);
  const some = [...names.filter((url) => url.includes('.mp4')).slice(0, 3), ...names.slice(0, 5)];
  const keys = new Set<string>();
  let analysed = 0;
  for (const url of some) {
    const answer = await answerMedia(world, url, NOW);
    expect(answer.status, url).toBe(200);
    const type = mediaTypeOf(answer.body.subarray(0, HEAD_BYTES))?.contentType;
    expect([answer.contentType, answer.address], url).toEqual([type, url.split('?', 1)[0]]);
    expect(url.includes('.mp4')).toBe(type === 'video/mp4');
    const again = await answerMedia(world, url, NOW);
    expect(creativeKeyOf(again)).toBe(creativeKeyOf(answer));
    keys.add(creativeKeyOf(answer));
    const analysis = analysisOfServed(world, answer.address ?? '', creativeKeyOf(answer), NOW.toISOString());
    if (analysis === null) continue;
    expect(CreativeAnalysis.parse(analysis)).toEqual(analysis);
    analysed += 1;
  }
  expect(keys.size).toBe(new Set(some).size);
  expect(analysed).toBeGreaterThan(0);
});

test('the played library serves the address of an ad that starts while the demo runs', async () => {
  const state = { ...SIZE, until: UNTIL, fed_until: UNTIL, taken: 0 };
  const living = livingWorldOf(withOpening(state, 180, NOW.getTime()), 180);
  const laterMs = NOW.getTime() + HOUR_MS;
  const ads = [...scansOfTracked(living, laterMs)].flatMap((one) =>
    one.type === 'ad_library.scan' ? one.ads : [],
  );
  const begun = ads.filter(({ started_on }) => started_on === UNTIL);
  const urls = [...new Set(addressesOf(begun.flatMap(({ media: shown }) => shown)))].slice(0, 6);
  expect(urls).toHaveLength(6);
  const answers = await Promise.all(urls.map((url) => answerMedia(world, url, new Date(laterMs))));
  expect(answers.map(({ status }) => status)).toEqual(urls.map(() => 200));
});

test('the played library refuses an address that has ended, was cut or names nothing', async () => {
  const [url = ''] = addresses;
  const later = new Date(NOW.getTime() + 30 * 86_400_000);
  expect((await answerMedia(world, url, later)).status).toBe(403);
  const statusOf = async (path: string): Promise<number> => (await answerMedia(world, path, NOW)).status;
  expect(await statusOf(url.split('?', 1)[0] ?? '')).toBe(403);
  for (const path of [
    '/',
    '//',
    '/7/0-0-99.jpg?oe=ffffffff',
    '/8/0-0-0.jpg?oe=ffffffff',
    '/7/0-0-0.svg?oe=ffffffff',
    '/7/0-9999-0.jpg?oe=ffffffff',
  ]) {
    expect(await statusOf(path), path).toBe(404);
  }
});
