import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from 'undici';
import { Observation } from '#contracts/observations/index.ts';
import { startPictures, type Pictures } from '#deploy/local/demo/pictures/start-pictures.ts';
import { demoObservations } from '#deploy/local/demo/generators/scans.ts';
import { buildWorld } from '#deploy/local/demo/world/world.ts';
import type { Nats } from '#platform/nats/connection.ts';

const SIZE = { seed: 7, brands: 12, ads: 200, days: 12 };
const UNTIL = '2026-03-01';
const NOW = new Date(`${UNTIL}T00:00:00Z`);
const MEDIA_HOST = 'media.library.example';

const queue = { isDown: false, texts: [] as string[] };
const jetstream = {
  publish: async (_subject: string, text: string) => {
    if (queue.isDown) throw new Error('no queue');
    queue.texts.push(text);
  },
} as unknown as Nats['jetstream'];

let pictures: Pictures;
beforeAll(async () => {
  pictures = await startPictures(buildWorld(SIZE), { jetstream }, { now: () => NOW });
});
afterAll(() => pictures[Symbol.asyncDispose]());

const get = async (path: string, host = MEDIA_HOST) => {
  const { statusCode, headers, body } = await request(`${pictures.origin}${path}`, { headers: { host } });
  return { status: statusCode, type: headers['content-type'], bytes: (await body.bytes()).length };
};
const paths = [...demoObservations({ ...SIZE, until: UNTIL, pictures: true })]
  .flatMap((one) => (one.type === 'ad_library.scan' ? one.ads : []))
  .flatMap(({ media }) => media.map(({ url }) => (url ?? '').slice(`https://${MEDIA_HOST}`.length)))
  .slice(-5);

test('answers 503 while the queue is down, so that no analysis is lost, and publishes it once', async () => {
  queue.isDown = true;
  const statuses = [];
  for (const path of paths) statuses.push((await get(path)).status);
  expect(new Set(statuses)).toContain(503);
  queue.isDown = false;
  for (const path of [...paths, ...paths]) {
    expect(await get(path)).toMatchObject({ status: 200, type: expect.stringMatching(/^(image|video)\//) });
  }
  const published = queue.texts.map((text) => Observation.parse(JSON.parse(text)));
  expect(published.length).toBeGreaterThan(0);
  expect(new Set(queue.texts).size).toBe(queue.texts.length);
  for (const one of published) expect(one).toMatchObject({ type: 'creative.analysis' });
});

test('serves its own host only', async () => {
  expect(await get(paths[0] ?? '', 'rebound.example')).toMatchObject({ status: 421 });
  expect(await get('/')).toMatchObject({ status: 404 });
});
