import sharp, { type Sharp } from 'sharp';
import { describe, expect, test, vi } from 'vitest';
import { THUMBNAIL_MAX_BYTES, type ThumbnailAnswer, thumbnailAsPng } from '#application/media/thumbnails.ts';
import { Refusal } from '#contracts/errors.ts';
import { silentLog } from '#platform/logger.ts';
import { creativesIn, IMAGES_MAX, readPictures } from '#services/mcp/output/pictures.ts';

const KEYS = Array.from({ length: 20 }, (_, n) => n.toString(16).padStart(64, 'a'));
const NOT_STORED: ThumbnailAnswer = { fault: 'not_stored' };
const WEBP = 'image/webp';

/** A picture of random pixels: nothing compresses worse. */
const noise = (size: number): Sharp => {
  const pixels = Buffer.alloc(size * size * 3);
  let state = 1;
  for (let at = 0; at < pixels.length; at += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    pixels[at] = state >> 16;
  }
  return sharp(pixels, { raw: { width: size, height: size, channels: 3 } });
};

const failing = (error: Error) => async (): Promise<ThumbnailAnswer> => {
  throw error;
};
/** Each thumbnail has its key as its bytes. */
const stored = (...keys: readonly string[]) =>
  vi.fn<(key: string) => Promise<ThumbnailAnswer>>(async (key) =>
    keys.includes(key) ? { webp: Buffer.from(key) } : NOT_STORED,
  );
const read = (
  thumbnailOf: (key: string) => Promise<ThumbnailAnswer>,
  count: number,
  keys: readonly string[] = KEYS,
  waitMs = 60_000,
) =>
  readPictures(
    keys.map((key) => ({ key, picture: key })),
    { count, type: 'webp' },
    { thumbnails: { thumbnailOf }, log: silentLog() },
    waitMs,
  );

describe('images of a result', () => {
  test('are those of the first stored creatives, in the order of the result', async () => {
    const [, first = '', , second = '', third = ''] = KEYS;
    const thumbnailOf = stored(third, second, first);
    const { blocks, index, notes } = await read(thumbnailOf, 2);
    expect(index).toEqual([first, second]);
    expect(blocks).toEqual(
      index.map((key) => ({ type: 'image', data: Buffer.from(key).toString('base64'), mimeType: WEBP })),
    );
    expect(notes).toEqual([]);
    expect(thumbnailOf.mock.calls.map(([key]) => key)).not.toContain(third);
  });

  test('are not looked for where none is asked for', async () => {
    const thumbnailOf = stored(...KEYS);
    expect(await read(thumbnailOf, 0)).toEqual({ blocks: [], index: [], notes: [] });
    expect(thumbnailOf).not.toHaveBeenCalled();
  });

  test('that are missing are named in the notes, after twelve creatives at most', async () => {
    const none = stored();
    expect((await read(none, IMAGES_MAX)).notes).toEqual([expect.stringMatching(/^No image is attached/)]);
    expect(none).toHaveBeenCalledTimes(12);
    const [one = '', other = ''] = KEYS;
    expect((await read(stored(one), 3)).notes).toEqual([expect.stringMatching(/^1 of the images .* is att/)]);
    expect((await read(stored(one, other), 3, [one, other, one])).notes).toEqual([]);
    expect((await read(none, 1, [])).notes).toEqual([expect.stringMatching(/^No image is attached/)]);
  });

  test('are not waited for without end, and those that are ready are shown', async () => {
    const [ready = '', slow = ''] = KEYS;
    const thumbnailOf = (key: string): Promise<ThumbnailAnswer> =>
      key === ready ? Promise.resolve({ webp: Buffer.from(key) }) : new Promise(() => undefined);
    const { index, notes } = await read(thumbnailOf, 2, [ready, slow], 20);
    expect(index).toEqual([ready]);
    expect(notes).toEqual([expect.stringMatching(/could not be made in time/)]);
  });

  test.each([new Refusal('limit_reached', 'busy'), new Error('the object store is away')])(
    'that cannot be read now leave the result whole: %s',
    async (error) => {
      const { blocks, notes } = await read(failing(error), 1, KEYS.slice(0, 2));
      expect(blocks).toEqual([]);
      expect(notes).toEqual([expect.stringMatching(/could not be made in time/)]);
    },
  );

  test('are never larger than 60 KiB each', async () => {
    const [large = '', small = ''] = KEYS;
    const thumbnailOf = vi.fn<(key: string) => Promise<ThumbnailAnswer>>(async (key) => ({
      webp: Buffer.alloc(key === large ? THUMBNAIL_MAX_BYTES + 1 : THUMBNAIL_MAX_BYTES),
    }));
    const { index } = await read(thumbnailOf, 2, [large, small]);
    expect(index).toEqual([small]);
  });
});

test('a PNG of a thumbnail fits even for noise, and keeps its size where it can', async () => {
  const webp = await noise(320).webp({ quality: 80 }).toBuffer();
  const png = await thumbnailAsPng(webp);
  expect(png.length).toBeLessThanOrEqual(THUMBNAIL_MAX_BYTES);
  expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width: 224, height: 224 });
  const plain = await sharp({ create: { width: 320, height: 200, channels: 3, background: '#37a' } })
    .webp()
    .toBuffer();
  expect(await sharp(await thumbnailAsPng(plain)).metadata()).toMatchObject({ width: 320, height: 200 });
});

test('creatives of a result are found where they stand, and a stored poster stands for its video', () => {
  const [image = '', video = '', poster = ''] = KEYS;
  const base = 'https://api.test';
  const value = {
    creatives: [{ creative_key: image, poster_url: 'https://a.test/v1/media/x', observed: { text: 'x' } }],
    more: { creative_key: video, poster_url: `${base}/v1/media/${poster}?expires=1&signature=a` },
    others: [
      { creative_key: '../reports/a.csv' },
      { creative_key: image, poster_url: `${base}/v1/media/..%2F` },
    ],
  };
  expect(creativesIn(value, base)).toEqual([
    { key: image, picture: image },
    { key: video, picture: poster },
    { key: image, picture: image },
  ]);
  expect(creativesIn('text', base)).toEqual([]);
});
