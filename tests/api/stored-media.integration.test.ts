import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { join } from 'node:path';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '#contracts/values/time.ts';
import { mediaKeyOf, thumbnailKeyOf } from '#contracts/values/media/stored-media.ts';
import type { ByteRange } from '#platform/object-store/object-store.ts';
import { openBucketStore } from '#platform/object-store/s3-object-store.ts';
import { openFolderStore } from '#platform/object-store/open-object-store.ts';
import { FILES_IN_FLIGHT_MAX } from '#services/api/server/file-routes.ts';
import { on } from '#tests/dsl/api.ts';
import type { CorpusBrand } from '#tests/operations/fixtures/corpus.ts';
import { keyOf, recordCreative } from '#tests/operations/fixtures/creative-events.ts';
import { type ApiStack, BASE_URL, type Key, openApiStack } from '#tests/operations/fixtures/stack.ts';

/** Picture with the first bytes of a PNG: the API does not decode files. */
const PICTURE = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(500, 'picture')]);
const PICTURE_KEY = createHash('sha256').update(PICTURE).digest('hex');
const SCRIPT = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const SCRIPT_KEY = createHash('sha256').update(SCRIPT).digest('hex');
const GONE_KEY = keyOf(3);
const THUMBNAIL = Buffer.from('RIFF....WEBP of the picture');
const NO_URLS = { media_url: null, poster_url: null };
const IMAGE = { ...NO_URLS, media_kind: 'image', content_type: 'image/png', duration_seconds: null } as const;

let stack: ApiStack;
let app: FastifyInstance;
let key: Key;
let brand: CorpusBrand;
let adId: string;
let films: CorpusBrand;
let filmAdId: string;
/** A creative library shows only four files of an ad, so another ad has those that cannot be served. */
let otherAdId: string;

beforeAll(async () => {
  stack = await openApiStack();
  const [opened, owned, brands] = await Promise.all([
    stack.api(),
    stack.key(),
    stack.seed(['alpha', 'beta']),
  ]);
  [app, key, brand, films] = [opened, owned, brands[0] as CorpusBrand, brands[1] as CorpusBrand];
  [, , filmAdId = ''] = films.adIds;
  [, , adId = '', otherAdId = ''] = brand.adIds;
  const store = openFolderStore(join(tmpdir(), `test-objects-${process.pid}`));
  for (const [objectKey, bytes] of [
    [mediaKeyOf(PICTURE_KEY), PICTURE],
    [mediaKeyOf(SCRIPT_KEY), SCRIPT],
    [thumbnailKeyOf(PICTURE_KEY), THUMBNAIL],
  ] as const) {
    await store.write(
      objectKey,
      (async function* () {
        yield bytes;
      })(),
    );
  }
  await recordCreative(stack, PICTURE_KEY, [adId], { ...IMAGE, object_key: mediaKeyOf(PICTURE_KEY) });
  await recordCreative(stack, SCRIPT_KEY, [adId], { ...IMAGE, object_key: mediaKeyOf(SCRIPT_KEY) });
  const film = { ...NO_URLS, object_key: null };
  const picture = mediaKeyOf(PICTURE_KEY);
  await recordCreative(stack, keyOf(11), [filmAdId], {
    ...film,
    object_key: mediaKeyOf(keyOf(11)),
    poster_object_key: picture,
    thumb_object_key: thumbnailKeyOf(PICTURE_KEY),
  });
  await recordCreative(stack, keyOf(12), [filmAdId], {
    ...film,
    media_url: 'https://media.example/12.mp4',
    poster_object_key: picture,
  });
  // Keys of a report, and the thumbnail of a picture that is not this film's.
  await recordCreative(stack, keyOf(13), [filmAdId], {
    ...film,
    media_url: 'https://media.example/13.mp4',
    poster_object_key: 'reports/ws_1/a.csv',
    thumb_object_key: thumbnailKeyOf(PICTURE_KEY),
  });
  await recordCreative(stack, GONE_KEY, [otherAdId], { ...IMAGE, object_key: mediaKeyOf(GONE_KEY) });
  await recordCreative(stack, keyOf(4), [otherAdId], { ...IMAGE, object_key: null });
  // The key of another file, as a hostile collector could name it.
  await recordCreative(stack, keyOf(1), [otherAdId], { ...IMAGE, object_key: mediaKeyOf(PICTURE_KEY) });
  await stack.projected(
    await recordCreative(stack, keyOf(2), [otherAdId], { ...IMAGE, object_key: 'reports/ws_1/a.csv' }),
  );
});
afterAll(() => stack[Symbol.asyncDispose]());

type Film = Shown & { readonly poster_url: string | null };
type Shown = { readonly creative_key: string; readonly media_url: string | null };

const urlOf = async (creativeKey: string): Promise<string | null> => {
  const { data } = await on(app).get(`/v1/creatives?brand_id=${brand.id}`, { key });
  const found = (data as Shown[]).find(({ creative_key }) => creative_key === creativeKey);
  if (!found) throw new Error(`no creative ${creativeKey}`);
  return found.media_url;
};
const filmOf = async (n: number): Promise<{ media_url: string | null; poster_url: string | null }> => {
  const { data } = await on(app).get(`/v1/ads/${filmAdId}/creatives`, { key });
  const found = (data as Film[]).find(({ creative_key }) => creative_key === keyOf(n));
  if (!found) throw new Error(`no film ${n}`);
  return found;
};
const thumbsOf = async (): Promise<Record<string, string>> => {
  const { data } = await on(app).get(`/v1/brand-thumbs?brand_ids=${films.id}`, { key });
  const [{ thumbs } = { thumbs: [] }] = data as { thumbs: { creative_key: string; image_url: string }[] }[];
  return Object.fromEntries(thumbs.map(({ creative_key, image_url }) => [creative_key, image_url]));
};
const pathOf = async (creativeKey: string): Promise<string> =>
  String(await urlOf(creativeKey)).slice(BASE_URL.length);
const load = (path: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> =>
  app.inject({ method: 'GET', url: path, headers });

describe('signed URLs of stored media', () => {
  test('are in all replies that show the file', async () => {
    const url = await urlOf(PICTURE_KEY);
    const reads = [
      [`/v1/creative-records/${PICTURE_KEY}`, '"media_url"'],
      [`/v1/creative-records?brand_id=${brand.id}`, '"media_url"'],
      [`/v1/brands/${brand.id}/creative-library`, '"media_url"'],
      [`/v1/brand-thumbs?brand_ids=${brand.id}`, '"image_url"'],
      [`/v1/ads/${adId}`, '"media_url"'],
    ];
    for (const [path, field] of reads) {
      const { data } = await on(app).get(String(path), { key });
      expect(JSON.stringify(data), path).toContain(`${field}:${JSON.stringify(url)}`);
    }
  });
  test('are equal all day, and valid to the end of the next UTC day', async () => {
    const path = await pathOf(PICTURE_KEY);
    const expires = Number(new URL(path, BASE_URL).searchParams.get('expires')) * 1_000;
    expect(expires % DAY_MS).toBe(0);
    expect(expires - Date.now()).toBeGreaterThan(DAY_MS - 1_000);
    expect(expires - Date.now()).toBeLessThanOrEqual(2 * DAY_MS);
  });
  test('let the images count as thumbnails of a brand, and no image that is not stored', async () => {
    const { data } = await on(app).get(`/v1/brand-thumbs?brand_ids=${brand.id}`, { key });
    const [{ thumbs } = { thumbs: [] }] = data as { thumbs: Shown[] }[];
    const stored = [PICTURE_KEY, SCRIPT_KEY, GONE_KEY];
    expect(thumbs.map(({ creative_key }) => creative_key).toSorted()).toEqual(stored.toSorted());
    const measured = await on(app).get(`/v1/creative-records/${keyOf(4)}`, { key });
    expect(measured.data).toMatchObject({ creative_key: keyOf(4), media_url: null });
  });
  test('are not given for the key of another file or of a report', async () => {
    expect(await urlOf(keyOf(1))).toBeNull();
    expect(await urlOf(keyOf(2))).toBeNull();
  });
});

describe('signed URLs of posters and thumbnails', () => {
  test('show the stored poster of a film, and its thumbnail before anything else', async () => {
    const { media_url: mediaUrl, poster_url: posterUrl } = await filmOf(11);
    expect(mediaUrl).toContain(`/v1/media/${keyOf(11)}?expires=`);
    expect(posterUrl).toBe(await urlOf(PICTURE_KEY));
    const record = await on(app).get(`/v1/creative-records/${keyOf(11)}`, { key });
    expect(record.data).toMatchObject({ poster_url: posterUrl });
    expect((await thumbsOf())[keyOf(11)]).toContain(`/v1/media/${PICTURE_KEY}.thumb?expires=`);
    expect((await thumbsOf())[keyOf(12)]).toBe(posterUrl);
  });
  test('are not given for the key of a report or the thumbnail of another file', async () => {
    expect((await filmOf(13)).poster_url).toBeNull();
    expect(await thumbsOf()).not.toHaveProperty(keyOf(13));
  });
  test('return the thumbnail for its own signature only', async () => {
    const thumb = String((await thumbsOf())[keyOf(11)]).slice(BASE_URL.length);
    const reply = await load(thumb);
    expect([reply.statusCode, reply.headers['content-type'], reply.headers['etag']]).toEqual([
      200,
      'image/webp',
      `"${PICTURE_KEY}.thumb"`,
    ]);
    expect(reply.rawPayload.equals(THUMBNAIL)).toBe(true);
    expect((await load(thumb.replace('.thumb', ''))).statusCode).toBe(403);
    expect(
      (await load((await pathOf(PICTURE_KEY)).replace(PICTURE_KEY, `${PICTURE_KEY}.thumb`))).statusCode,
    ).toBe(403);
  });
});

describe('getMedia', () => {
  test('returns the file without an API key, for browsers only to show and to cache', async () => {
    const reply = await load(await pathOf(PICTURE_KEY));
    expect(reply.statusCode).toBe(200);
    expect(reply.rawPayload.equals(PICTURE)).toBe(true);
    expect(reply.headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PICTURE.length),
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      etag: `"${PICTURE_KEY}"`,
    });
    expect(reply.headers['cache-control']).toMatch(/^private, max-age=\d+, immutable$/);
  });
  test('has the headers of GET in the reply to HEAD', async () => {
    const url = await pathOf(PICTURE_KEY);
    const of = async (method: 'GET' | 'HEAD') => {
      const reply = await app.inject({ method, url });
      const { date: _date, 'x-request-id': _id, 'cache-control': _age, ...headers } = reply.headers;
      return headers;
    };
    expect(await of('HEAD')).toEqual(await of('GET'));
  });

  test('returns 304 for a known ETag', async () => {
    const reply = await load(await pathOf(PICTURE_KEY), { 'if-none-match': `"x", "${PICTURE_KEY}"` });
    expect([reply.statusCode, reply.rawPayload.length]).toEqual([304, 0]);
  });
  test('returns one range; the whole file for other headers', async () => {
    const path = await pathOf(PICTURE_KEY);
    const size = PICTURE.length;
    const parts: readonly (readonly [string, number, number])[] = [
      ['bytes=0-0', 0, 0],
      ['bytes=8-99', 8, 99],
      ['bytes=100-', 100, size - 1],
      ['bytes=-8', size - 8, size - 1],
      [`bytes=8-${size * 2}`, 8, size - 1],
    ];
    for (const [range, start, end] of parts) {
      const reply = await load(path, { range });
      expect(reply.statusCode, range).toBe(206);
      expect(reply.headers['content-range']).toBe(`bytes ${start}-${end}/${size}`);
      expect(reply.rawPayload.equals(PICTURE.subarray(start, end + 1)), range).toBe(true);
    }
    for (const range of ['bytes=0-1,4-5', 'bytes=x', 'lines=0-1']) {
      const reply = await load(path, { range });
      expect([reply.statusCode, reply.rawPayload.length], range).toEqual([200, size]);
    }
    const changed = await load(path, { range: 'bytes=0-0', 'if-range': '"another"' });
    expect(changed.statusCode).toBe(200);
  });
  test('returns 416 for a range without a byte of the file', async () => {
    for (const range of [`bytes=${PICTURE.length}-`, 'bytes=9-3']) {
      const reply = await load(await pathOf(PICTURE_KEY), { range });
      expect(reply.statusCode).toBe(416);
      expect(reply.headers).toMatchObject({
        'content-range': `bytes */${PICTURE.length}`,
        'cache-control': 'no-store',
      });
    }
  });
  test('returns 403 for an altered or missing signature, and for the signature of another file', async () => {
    const path = await pathOf(PICTURE_KEY);
    const other = await pathOf(SCRIPT_KEY);
    const altered = [
      path.replace(/signature=./, 'signature=_'),
      path.replace(/expires=\d/, 'expires=9'),
      path.split('?', 1)[0] ?? '',
      path.replace(PICTURE_KEY, SCRIPT_KEY),
      other.replace(SCRIPT_KEY, PICTURE_KEY),
      path.replace(PICTURE_KEY, '..%2f..%2fetc%2fpasswd'),
      `${path}&expires=1`,
    ];
    for (const one of altered) {
      const reply = await load(one);
      expect([reply.statusCode, reply.headers['etag']], one).toEqual([403, undefined]);
      expect(reply.json()).toMatchObject({ error: { type: 'forbidden' } });
    }
  });
  test.for<[string, (socket: Socket) => void]>([
    ['does not answer', () => undefined],
    ['begins an answer and stops', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9')],
    ['resets each connection', (socket) => socket.resetAndDestroy()],
    ['ends each connection in the middle of an answer', (socket) => socket.end('HTTP/1.1 200 OK\r\ncont')],
    ['refuses work', (socket) => socket.end('HTTP/1.1 503 Slow Down\r\ncontent-length: 0\r\n\r\n')],
  ])('returns 503 in the time of a request while the object store %s', async ([, answer]) => {
    const faulty = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => answer(socket));
    }).listen(0, '127.0.0.1');
    await once(faulty, 'listening');
    const { port } = faulty.address() as AddressInfo;
    const objectStore = openBucketStore(`s3://KEY:SECRET@127.0.0.1:${port}/bucket/folder?tls=false`);
    const waiting = await stack.api({ objectStore, requestBudgetMs: 1_500 });
    const since = performance.now();
    const reply = await waiting.inject({ method: 'GET', url: await pathOf(PICTURE_KEY) });
    expect(performance.now() - since).toBeLessThan(10_000);
    expect(reply.statusCode).toBe(503);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect(reply.json()).toMatchObject({ error: { type: 'unavailable' } });
    faulty.close();
  });
  test('returns 503 at once while too many files wait for the object store, and 200 afterwards', async () => {
    const answered = Promise.withResolvers<void>();
    let asked = 0;
    const folder = openFolderStore(join(tmpdir(), `test-objects-${process.pid}`));
    const silent = {
      ...folder,
      open: async (name: string) => {
        asked += 1;
        await answered.promise;
        return folder.open(name);
      },
    };
    const waiting = await stack.api({ objectStore: silent });
    const url = await pathOf(PICTURE_KEY);
    const loads = Array.from({ length: FILES_IN_FLIGHT_MAX }, () => waiting.inject({ method: 'GET', url }));
    await expect.poll(() => asked).toBe(FILES_IN_FLIGHT_MAX);
    const refused = await waiting.inject({ method: 'GET', url });
    expect(refused.statusCode).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(asked).toBe(FILES_IN_FLIGHT_MAX);
    answered.resolve();
    for (const { statusCode } of await Promise.all(loads)) expect(statusCode).toBe(200);
    expect((await waiting.inject({ method: 'GET', url })).statusCode).toBe(200);
  });
  test('returns 503 at once while too many files are sent, and 200 once they are', async () => {
    const sending: Readable[] = [];
    const slow = {
      ...openFolderStore(join(tmpdir(), `test-objects-${process.pid}`)),
      open: async () => ({
        bytes: PICTURE.length,
        read: (range?: ByteRange) => {
          if (range) return Readable.from([PICTURE.subarray(range.start, range.end + 1)]);
          const file = new Readable({ read: () => undefined });
          sending.push(file);
          return file;
        },
      }),
    };
    const busy = await stack.api({ objectStore: slow });
    const url = await pathOf(PICTURE_KEY);
    const sent = Array.from({ length: FILES_IN_FLIGHT_MAX }, () => busy.inject({ method: 'GET', url }));
    await expect.poll(() => sending.length).toBe(FILES_IN_FLIGHT_MAX);
    expect((await busy.inject({ method: 'GET', url })).statusCode).toBe(503);
    for (const file of sending) {
      file.push(PICTURE);
      file.push(null);
    }
    for (const { statusCode } of await Promise.all(sent)) expect(statusCode).toBe(200);
    sending.length = 0;
    const next = busy.inject({ method: 'GET', url });
    await expect.poll(() => sending.length).toBe(1);
    sending[0]?.push(PICTURE);
    sending[0]?.push(null);
    expect((await next).statusCode).toBe(200);
  });
  test('returns 404 for a file that is neither a picture nor a film, and for a missing file', async () => {
    for (const one of [SCRIPT_KEY, GONE_KEY]) {
      const reply = await load(await pathOf(one));
      expect([reply.statusCode, reply.headers['cache-control']]).toEqual([404, undefined]);
      expect(reply.body).not.toContain('<script>');
    }
  });
});
