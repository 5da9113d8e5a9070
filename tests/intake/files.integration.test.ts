import { hash, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileReply } from '#contracts/intake.ts';
import { IMAGE_MAX_BYTES, VIDEO_MAX_BYTES } from '#application/media/media-type.ts';
import { type IntakeServer, openIntakeServer, type Reply, send, sendPartOf } from './stack.ts';

let server: IntakeServer;
let key: string;
beforeAll(async () => {
  server = await openIntakeServer();
  key = (await server.issue('tests', ['creative.file'])).text;
});
afterAll(() => server[Symbol.asyncDispose]());

const sha256Of = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');
const withHead = (head: string | Uint8Array, size: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(size);
  bytes.set(randomBytes(Math.min(size, 1_000)));
  bytes.set(Buffer.from(head as string, 'latin1'));
  return bytes;
};
const JPEG = '\xff\xd8\xff\xe0';
const PNG = '\x89PNG\r\n\x1a\n';
const MP4 = '\0\0\0\x20ftypisom';

const put = (bytes: Uint8Array<ArrayBuffer>, sha256 = sha256Of(bytes), headers = {}): Promise<Reply> =>
  send(`${server.url}/intake/files/${sha256}`, bytes, { key, method: 'PUT', headers });
const isStored = async (sha256: string): Promise<boolean> =>
  (await server.objectStore.open(`media/${sha256.slice(0, 2)}/${sha256.slice(2, 4)}/${sha256}`)) !== null;

describe('a file', () => {
  test.each([
    ['image/jpeg', withHead(JPEG, 5_000)],
    ['image/png', withHead(PNG, 8)],
    ['image/gif', withHead('GIF89a', 100)],
    ['image/webp', withHead('RIFF\0\0\0\0WEBP', 3_000_000)],
    ['video/mp4', withHead(MP4, 70_000)],
    ['video/webm', withHead('\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm', 500)],
  ])('of type %s is stored once, under its hash', async (contentType, bytes) => {
    const sha256 = sha256Of(bytes);
    const first = await put(bytes);
    expect(first.status, JSON.stringify(first.body)).toBe(201);
    const { object_key } = FileReply.parse(first.body);
    expect(first.body).toEqual({ sha256, bytes: bytes.length, content_type: contentType, object_key });
    const stored = await server.objectStore.open(object_key);
    expect(stored?.bytes).toBe(bytes.length);
    if (stored) expect(sha256Of(await buffer(stored.read()))).toBe(sha256);

    const again = await put(bytes);
    expect([again.status, again.body]).toEqual([200, first.body]);
    const other = withHead(JPEG, 5_001);
    expect((await put(other, sha256)).status, 'other bytes under a stored hash').toBe(409);
  });

  test('of the largest size is stored, and a larger one is 413', async () => {
    expect((await put(withHead(PNG, IMAGE_MAX_BYTES))).status).toBe(201);
    const large = withHead(PNG, IMAGE_MAX_BYTES + 1);
    expect((await put(large)).status).toBe(413);
    expect(await isStored(sha256Of(large))).toBe(false);
    const film = withHead(MP4, IMAGE_MAX_BYTES + 1);
    expect((await put(film)).status).toBe(201);
    const url = `${server.url}/intake/files/${sha256Of(film)}`;
    const declared = { method: 'PUT', contentLength: VIDEO_MAX_BYTES + 1 };
    expect((await sendPartOf(url, key, MP4, declared)).status).toBe(413);
  });

  test('that differs from the hash of its path is 409 and is not stored', async () => {
    const sha256 = sha256Of(Buffer.from('other'));
    expect((await put(withHead(JPEG, 200_000), sha256)).status).toBe(409);
    expect(await isStored(sha256)).toBe(false);
  });

  test.each([
    ['no byte', ''],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
    ['HTML', '<!doctype html><script>alert(1)</script>'],
    ['HEIC', '\0\0\0\x20ftypheic'],
    ['RIFF sound', 'RIFF\0\0\0\0WAVE'],
    ['Matroska', '\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84matroska'],
  ])('with the bytes of %s is 415', async (_name, head) => {
    const bytes = new Uint8Array(Buffer.from(head, 'latin1'));
    expect((await put(bytes, undefined, { 'content-type': 'image/png' })).status).toBe(415);
    expect(await isStored(sha256Of(bytes))).toBe(false);
  });

  test.each(['ab', 'A'.repeat(64), `${'a'.repeat(63)}/`, '..%2F..%2Fetc%2Fpasswd', 'a'.repeat(65)])(
    'under the path %s is 400 or 404',
    async (sha256) => {
      expect([400, 404]).toContain((await put(withHead(JPEG, 100), sha256)).status);
    },
  );

  test('is 403 for a key without creative.file, and 401 for a revoked key', async () => {
    const bytes = withHead(JPEG, 300);
    const url = `${server.url}/intake/files/${sha256Of(bytes)}`;
    const other = await server.issue('tests', ['brand.profile']);
    expect((await send(url, bytes, { key: other.text, method: 'PUT' })).status).toBe(403);
    const revoked = await server.issue('tests', ['creative.file']);
    await server.revoke(revoked.keyId);
    expect((await send(url, bytes, { key: revoked.text, method: 'PUT' })).status).toBe(401);
    expect(await isStored(sha256Of(bytes))).toBe(false);
  });

  test('with a content-encoding is 415', async () => {
    expect((await put(withHead(JPEG, 100), undefined, { 'content-encoding': 'gzip' })).status).toBe(415);
  });
});
