import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseBucketUrl } from '#platform/object-store/s3-object-store.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { openObjectStore } from '#platform/object-store/open-object-store.ts';
import { type Bucket, startBucket } from '#tests/stack/bucket.ts';

const LARGE_CHUNKS = 20;
const CHUNK = Buffer.alloc(1024 * 1024, 'größer ');

let folder: string;
let bucket: Bucket;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'objects-'));
  bucket = await startBucket();
});
afterAll(async () => {
  await bucket[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function* chunks(count: number, fault?: Error): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n += 1) yield CHUNK;
  if (fault) throw fault;
}

async function* text(...parts: readonly string[]): AsyncGenerator<string> {
  yield* parts;
}

const read = async (store: ObjectStore, key: string): Promise<string | null> => {
  const object = await store.open(key);
  if (object === null) return null;
  const content = await buffer(object.read());
  expect(content.byteLength).toBe(object.bytes);
  return content.toString();
};

describe.each(['folder', 'bucket'])('objects in a %s', (kind) => {
  let store: ObjectStore;
  beforeAll(async () => {
    const settings = { DATA_DIR: folder };
    store = await openObjectStore(
      kind === 'folder' ? settings : { ...settings, OBJECT_STORE_URL: bucket.url },
    );
  });

  test('are read with the content, size and digest that were written', async () => {
    const written = await store.write('a/small.csv', text('erste Zeile\r\n', 'zweite ä\r\n'));
    const whole = 'erste Zeile\r\nzweite ä\r\n';
    expect(await read(store, 'a/small.csv')).toBe(whole);
    expect(written).toEqual({
      bytes: Buffer.byteLength(whole),
      sha256: createHash('sha256').update(whole).digest('hex'),
    });
    expect(await read(store, 'a/other.csv')).toBeNull();
  });

  test('can be empty, or larger than the upload buffer', async () => {
    expect(await store.write('a/empty.csv', text())).toMatchObject({ bytes: 0 });
    expect(await read(store, 'a/empty.csv')).toBe('');
    const { bytes, sha256 } = await store.write('a/large.csv', chunks(LARGE_CHUNKS));
    expect(bytes).toBe(LARGE_CHUNKS * CHUNK.byteLength);
    const object = await store.open('a/large.csv');
    const digest = createHash('sha256');
    for await (const chunk of object?.read() ?? []) digest.update(chunk as Buffer);
    expect(digest.digest('hex')).toBe(sha256);
  });

  test('are read in ranges of bytes', async () => {
    await store.write('a/digits.csv', text('01234', '56789'));
    const object = await store.open('a/digits.csv');
    if (object === null) throw new Error('not stored');
    const part = async (start: number, end: number): Promise<string> =>
      (await buffer(object.read({ start, end }))).toString();
    expect([await part(0, 1), await part(3, 7), await part(9, 9)]).toEqual(['01', '34567', '9']);
    expect(object.bytes).toBe(10);
  });

  test.each([1, LARGE_CHUNKS])('stay unchanged when the source throws after %s chunks', async (count) => {
    const fault = new Error('the source broke');
    await expect(store.write('b/new.csv', chunks(count, fault))).rejects.toThrow('the source broke');
    expect(await store.open('b/new.csv')).toBeNull();
    await store.write('b/old.csv', text('old'));
    await expect(store.write('b/old.csv', chunks(count, fault))).rejects.toThrow('the source broke');
    expect(await read(store, 'b/old.csv')).toBe('old');
  });

  test('below a prefix are removed except one, and other prefixes stay unchanged', async () => {
    for (const key of ['c/1/a.csv', 'c/1/b.csv', 'c/10/a.csv']) await store.write(key, text(key));
    await store.removeAllBut('c/1', 'c/1/b.csv');
    expect(await store.open('c/1/a.csv')).toBeNull();
    expect(await read(store, 'c/1/b.csv')).toBe('c/1/b.csv');
    await store.removeAllBut('c/1', null);
    await store.removeAllBut('c/nothing', null);
    expect(await store.open('c/1/b.csv')).toBeNull();
    expect(await read(store, 'c/10/a.csv')).toBe('c/10/a.csv');
  });

  test.each(['../outside', '/a', 'a//b', 'a/..', 'A', `a/${'b'.repeat(500)}`])(
    'reject the invalid key %s',
    async (key) => {
      await expect(store.write(key, text('x'))).rejects.toThrow('Invalid object key');
      await expect(store.open(key)).rejects.toThrow('Invalid object key');
    },
  );
});

describe('a bucket', () => {
  test('reports an unknown access key and a missing bucket', async () => {
    const settings = { DATA_DIR: folder };
    const wrong = await openObjectStore({
      ...settings,
      OBJECT_STORE_URL: bucket.url.replace('//TESTS', '//nobody'),
    });
    await expect(wrong.write('a.csv', text('x'))).rejects.toThrow(/Access Key Id/);
    const missing = bucket.url.replace('/reports/', '/elsewhere/');
    const absent = await openObjectStore({ ...settings, OBJECT_STORE_URL: missing });
    await expect(absent.write('a.csv', text('x'))).rejects.toThrow(/bucket does not exist/);
  });

  test('causes an error after some attempts when its server has stopped', async () => {
    const stopped = await startBucket();
    const store = await openObjectStore({ DATA_DIR: folder, OBJECT_STORE_URL: stopped.url });
    await store.write('a.csv', text('x'));
    await stopped[Symbol.asyncDispose]();
    await expect(store.open('a.csv')).rejects.toThrow(/ECONNREFUSED/);
  });

  test.each([
    ['s3://key:se%2Fcret@s3.example.com/reports', 'https://s3.example.com', 'us-east-1', '', 'se/cret'],
    ['s3://key:s@host:9000/reports/a/b?tls=false&region=eu', 'http://host:9000', 'eu', 'a/b/', 's'],
    ['s3://host/reports/?region=eu', 'https://host', 'eu', '', undefined],
  ])('is located by %s', (url, endpoint, region, prefix, secret) => {
    const location = parseBucketUrl(url);
    expect(location).toMatchObject({ endpoint, region, prefix, bucket: 'reports' });
    expect(location.credentials?.secretAccessKey).toBe(secret);
  });
});
