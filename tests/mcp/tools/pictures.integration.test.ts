import type { Client } from '@modelcontextprotocol/client';
import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mediaKeyOf, thumbnailKeyOf } from '#contracts/values/media/stored-media.ts';
import type { CorpusBrand } from '../../operations/fixtures/corpus.ts';
import { keyOf, recordCreative } from '../../operations/fixtures/creative-events.ts';
import { type ApiStack, openApiStack } from '../../operations/fixtures/stack.ts';
import { type McpStack, openMcpStack, REVISIONS } from '../mcp-stack.ts';

const resources = new AsyncDisposableStack();
let stack: ApiStack;
let mcp: McpStack & AsyncDisposable;
let token: string;
let alpha: CorpusBrand;
let keys: readonly string[];
const VIDEO_KEY = keyOf(7);
/** A video whose stored poster is the first picture. */
const POSTER_VIDEO_KEY = keyOf(9);

const picture = (red: number): Promise<Buffer> =>
  sharp({ create: { width: 640, height: 400, channels: 3, background: { r: red, g: 60, b: 120 } } })
    .jpeg()
    .toBuffer();

beforeAll(async () => {
  stack = resources.use(await openApiStack());
  mcp = resources.use(await openMcpStack(stack));
  const [key, brands] = await Promise.all([stack.key({ plan: 'enterprise' }), stack.seed(['alpha'])]);
  [alpha] = brands as [CorpusBrand];
  token = await mcp.connect(key);
  const { objectStore } = mcp.dependencies;
  const store = (name: string, bytes: Buffer) =>
    objectStore.write(
      name,
      (async function* () {
        yield bytes;
      })(),
    );
  const files = await Promise.all([40, 160, 220].map(picture));
  keys = files.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
  await Promise.all(files.map((bytes, at) => store(mediaKeyOf(keys[at] ?? ''), bytes)));
  // The archive stores the thumbnail of a video.
  await store(thumbnailKeyOf(VIDEO_KEY), await sharp(files[0]).resize(100).webp().toBuffer());
  // The second ad has ended.
  const [adId = '', ended = '', other = '', third = ''] = alpha.adIds;
  const image = { media_kind: 'image', content_type: 'image/jpeg', duration_seconds: null } as const;
  for (const [at, creativeKey] of keys.entries()) {
    const media = { ...image, media_url: null, poster_url: null, object_key: mediaKeyOf(creativeKey) };
    await recordCreative(stack, creativeKey, [at === 2 ? other : adId], media);
  }
  await recordCreative(stack, VIDEO_KEY, [third], { media_url: null, object_key: mediaKeyOf(VIDEO_KEY) });
  // As the archive records a video: the poster is a file of its own, with a thumbnail.
  const archived = { media_url: null, poster_url: null, poster_object_key: mediaKeyOf(keys[0] ?? '') };
  const object_key = mediaKeyOf(POSTER_VIDEO_KEY);
  await recordCreative(stack, POSTER_VIDEO_KEY, [ended], { ...archived, object_key });
  await stack.projected(await recordCreative(stack, keyOf(8), [ended]));
});
afterAll(() => resources.disposeAsync());

type Block = {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
};
type Shown = { readonly image_index?: readonly string[]; readonly notes: readonly string[] };

const ask = async (client: Client, name: string, args: object) => {
  const { content, isError } = await client.callTool({ name, arguments: { ...args } });
  const [first, ...images] = content as readonly Block[];
  expect(isError, first?.text).not.toBe(true);
  const json = JSON.parse(first?.text ?? '') as Shown & { readonly metadata?: Shown };
  const decoded = await Promise.all(
    images.map(async ({ type, data = '', mimeType }) => {
      const bytes = Buffer.from(data, 'base64');
      expect(bytes.length).toBeLessThanOrEqual(60 * 1024);
      const { format, width, height } = await sharp(bytes).metadata();
      return { type, mimeType, format, width, height };
    }),
  );
  const { image_index: index = [], notes } = json.metadata ?? json;
  expect(index).toHaveLength(decoded.length);
  return { json, index, notes, images: decoded };
};

const WEBP = { type: 'image', mimeType: 'image/webp', format: 'webp', width: 320, height: 200 };

describe.each(REVISIONS)('client of revision %s', (revision) => {
  let client: Client;
  beforeAll(async () => {
    client = await mcp.client(token, revision);
  });
  afterAll(() => client.close());

  test('fetch of an ad shows one picture by itself, more when asked, or none', async () => {
    const id = `ad:${alpha.adIds[0]}`;
    const { images, index } = await ask(client, 'fetch', { id });
    expect(images).toEqual([WEBP]);
    expect(keys).toContain(index[0]);
    const two = await ask(client, 'fetch', { id, images: 4 });
    expect(two.images).toEqual([WEBP, WEBP]);
    expect(two.index.toSorted()).toEqual(keys.slice(0, 2).toSorted());
    const none = await ask(client, 'fetch', { id, images: 0 });
    expect([none.images, none.notes.join(' ').includes('image')]).toEqual([[], false]);
  });

  test('fetch of a creative shows it, as PNG for clients that ask, and the thumbnail of a video', async () => {
    const [creativeKey = ''] = keys;
    const { images, index } = await ask(client, 'fetch', {
      id: `creative:${creativeKey.slice(0, 12)}`,
      image_type: 'png',
    });
    expect(images).toEqual([{ ...WEBP, mimeType: 'image/png', format: 'png' }]);
    expect(index).toEqual([creativeKey]);
    const video = await ask(client, 'fetch', { id: `creative:${VIDEO_KEY}` });
    expect(video.images).toEqual([{ ...WEBP, width: 100, height: 63 }]);
    const withPoster = await ask(client, 'fetch', { id: `creative:${POSTER_VIDEO_KEY}` });
    expect([withPoster.images, withPoster.index]).toEqual([[WEBP], [POSTER_VIDEO_KEY]]);
  });

  test('a creative without a stored thumbnail is answered with a note', async () => {
    const { images, notes } = await ask(client, 'fetch', { id: `creative:${keyOf(8)}` });
    expect(images).toEqual([]);
    expect(notes).toContainEqual(expect.stringMatching(/^No image is attached/));
  });

  test('lists show pictures when asked, and name their creatives in the same order', async () => {
    const list = await ask(client, 'search_creatives', { brand: alpha.slug, images: 4 });
    expect(list.images).toHaveLength(4);
    const items = (list.json as unknown as { items: { creative_key: string }[] }).items;
    const shown = items.map(({ creative_key }) => creative_key).filter((key) => list.index.includes(key));
    expect(shown).toEqual(list.index);
    expect((await ask(client, 'search_creatives', { brand: alpha.slug })).images).toEqual([]);
    const library = await ask(client, 'get_brand', {
      brand: alpha.slug,
      include: ['creative_library'],
      images: 3,
    });
    expect(library.images).toHaveLength(3);
    // One of each ad comes before the second one of any.
    expect(library.index).toContain(VIDEO_KEY);
    expect(library.index).toContain(keys[2]);
    const others = await ask(client, 'get_brand', { brand: alpha.slug, include: ['velocity'], images: 3 });
    expect(others.images).toEqual([]);
    expect(others.notes.join(' ')).not.toContain('image');
  });
});
