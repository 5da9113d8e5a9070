import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
import { faultOfError, perceptualHashOf } from '#application/media/image-decoder.ts';
import { THUMBNAIL_MAX_BYTES, createThumbnails, makeThumbnail } from '#application/media/thumbnails.ts';
import { IMAGE_MAX_BYTES } from '#application/media/media-type.ts';
import { SAME_PICTURE_MAX_BITS } from '#contracts/values/media/creatives.ts';
import { mediaKeyOf, thumbnailKeyOf } from '#contracts/values/media/stored-media.ts';
import type { ObjectStore } from '#platform/object-store/object-store.ts';
import { differing } from '#tests/projections/fixtures/picture-files.ts';

type Format = 'jpeg' | 'png' | 'webp' | 'gif';

const drawing = (seed: number, width: number, height: number): Sharp => {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [u, v] = [x / width, y / height];
      const at = (y * width + x) * 3;
      pixels[at] = 128 + 90 * Math.sin(seed + (3 + seed) * u * 5) * Math.cos((2 + (seed % 3)) * v * 4);
      pixels[at + 1] = 128 + 90 * Math.cos(seed * 2 + (1 + seed) * v * 6 + u * 3);
      pixels[at + 2] = 255 * Math.abs(u - v);
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
};
const picture = (format: Format, width = 640, height = 400): Promise<Buffer> =>
  drawing(1, width, height).toFormat(format, { effort: 1 }).toBuffer();

const hugePng = (width: number, height: number): Buffer => {
  const header = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const fields = Buffer.alloc(17);
  fields.writeUInt32BE(width, 0);
  fields.writeUInt32BE(height, 4);
  fields.writeUInt32BE(0x08_02_00_00, 8);
  const chunk = Buffer.concat([header.subarray(12), fields.subarray(0, 13)]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(chunk));
  const data = Buffer.from('0000000049444154', 'hex');
  return Buffer.concat([header.subarray(0, 12), chunk, crc, data, Buffer.from('35af061e', 'hex')]);
};

describe('makeThumbnail', () => {
  test.each(['jpeg', 'png', 'webp', 'gif'] as const)('makes a small WebP of a %s', async (format) => {
    const made = await makeThumbnail(await picture(format));
    if (typeof made === 'string') throw new Error(made);
    const shown = await sharp(made.webp).metadata();
    expect([shown.format, shown.width, shown.height]).toEqual(['webp', 320, 200]);
    expect([made.width, made.height]).toEqual([640, 400]);
  });
  test('keeps a small image small, and turns an image as its file asks for', async () => {
    const small = await makeThumbnail(await picture('png', 40, 20));
    expect(await sharp((small as { webp: Buffer }).webp).metadata()).toMatchObject({ width: 40, height: 20 });
    const turned = await drawing(1, 640, 400).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const made = (await makeThumbnail(turned)) as {
      webp: Buffer;
      width: number;
      height: number;
    };
    expect([made.width, made.height]).toEqual([400, 640]);
    expect(await sharp(made.webp).metadata()).toMatchObject({
      width: 200,
      height: 320,
    });
  });
  test('shows an image for print in the colours of a screen', async () => {
    const file = await drawing(1, 64, 40).toColourspace('cmyk').jpeg().toBuffer();
    expect(await sharp(file).metadata()).toMatchObject({ space: 'cmyk', channels: 4 });
    const made = await makeThumbnail(file);
    expect(await sharp((made as { webp: Buffer }).webp).metadata()).toMatchObject({
      space: 'srgb',
      channels: 3,
    });
  });
  test('holds the limit of bytes for an image that hardly compresses', async () => {
    const noise = Buffer.alloc(320 * 320 * 3);
    for (let at = 0, value = 1; at < noise.length; at += 1) {
      value = (Math.imul(value, 1_664_525) + 1_013_904_223) >>> 0;
      noise[at] = value >>> 24;
    }
    const file = await sharp(noise, {
      raw: { width: 320, height: 320, channels: 3 },
    })
      .png()
      .toBuffer();
    const best = await sharp(file).webp({ quality: 80 }).toBuffer();
    expect(best.length).toBeGreaterThan(THUMBNAIL_MAX_BYTES);
    const made = await makeThumbnail(file);
    expect((made as { webp: Buffer }).webp.length).toBeLessThanOrEqual(THUMBNAIL_MAX_BYTES);
  });
  test('refuses an image above the limit of pixels by its header alone', async () => {
    expect(await makeThumbnail(hugePng(10_000, 5_001))).toBe('too_many_pixels');
    expect(await makeThumbnail(hugePng(10_000, 5_000))).toBe('broken');
  });
  test('answers for a file that is broken or no image', async () => {
    const jpeg = await picture('jpeg');
    const tiff = await drawing(1, 40, 20).tiff().toBuffer();
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    expect(await makeThumbnail(jpeg.subarray(0, jpeg.length / 2))).toBe('broken');
    expect(await makeThumbnail(jpeg.subarray(0, 64))).toBe('broken');
    expect(await makeThumbnail(Buffer.concat([Buffer.from('GIF89a'), tiff]))).toBe('broken');
    expect(await makeThumbnail(Buffer.alloc(0))).toBe('not_an_image');
    expect(await makeThumbnail(tiff)).toBe('not_an_image');
    expect(await makeThumbnail(svg)).toBe('not_an_image');
    expect(await makeThumbnail(Buffer.concat([jpeg, Buffer.alloc(IMAGE_MAX_BYTES)]))).toBe('too_large');
    await expect(sharp(tiff).metadata()).rejects.toThrow(/unsupported image format/);
    await expect(sharp(svg).metadata()).rejects.toThrow(/unsupported image format/);
  });
});

describe('faultOfError', () => {
  test('tells a decoder that was ended by its time limit from a broken file', () => {
    expect(faultOfError(new Error('timeout: 33% complete'))).toBe('too_slow');
    expect(faultOfError(new Error('VipsJpeg: premature end of JPEG image'))).toBe('broken');
  });
});

describe('perceptualHashOf', () => {
  const hashOf = async (file: Buffer): Promise<string> => {
    const answer = await perceptualHashOf(file);
    if (typeof answer === 'string') throw new Error(answer);
    return answer.hash;
  };
  const isSamePicture = (one: string, other: string): boolean =>
    differing(BigInt(`0x${one}`), BigInt(`0x${other}`)) <= SAME_PICTURE_MAX_BITS;
  test('is nearly equal for the same picture in other formats and sizes, and differs for other pictures', async () => {
    const hash = await hashOf(await picture('png'));
    expect(hash).toMatch(/^[0-9a-f]{16}$/);
    const again = [
      await drawing(1, 640, 400).jpeg({ quality: 50 }).toBuffer(),
      await drawing(1, 640, 400).resize(300).webp({ quality: 60 }).toBuffer(),
    ];
    for (const file of again) expect(isSamePicture(hash, await hashOf(file))).toBe(true);
    for (const seed of [2, 4, 7]) {
      const other = await hashOf(await drawing(seed, 640, 400).png().toBuffer());
      expect(isSamePicture(hash, other), `${seed}`).toBe(false);
    }
  });
  test('answers for a file without a hash', async () => {
    expect(await perceptualHashOf(hugePng(60_000, 60_000))).toBe('too_many_pixels');
    expect(await perceptualHashOf(Buffer.from('text'))).toBe('not_an_image');
  });
});

describe('thumbnailOf', () => {
  const memoryStore = (): {
    store: ObjectStore;
    files: Map<string, Buffer>;
    calls: string[];
  } => {
    const files = new Map<string, Buffer>();
    const calls: string[] = [];
    const store: ObjectStore = {
      write: async (key, source) => {
        const chunks: Buffer[] = [];
        for await (const chunk of source) chunks.push(Buffer.from(chunk as Uint8Array));
        const bytes = Buffer.concat(chunks);
        calls.push(`write ${key}`);
        files.set(key, bytes);
        return {
          bytes: bytes.length,
          sha256: createHash('sha256').update(bytes).digest('hex'),
        };
      },
      open: async (key) => {
        const file = files.get(key);
        if (!file) return null;
        return {
          bytes: file.length,
          read: (range) => {
            calls.push(`read ${range ? 'head of ' : ''}${key}`);
            return Readable.from(file.subarray(range?.start ?? 0, (range?.end ?? file.length) + 1), {
              objectMode: false,
            });
          },
        };
      },
      exists: async (key) => files.has(key),
      remove: async (key) => {
        files.delete(key);
      },
      removeAllBut: async () => undefined,
    };
    return { store, files, calls };
  };
  const stored = (files: Map<string, Buffer>, file: Buffer): string => {
    const sha256 = createHash('sha256').update(file).digest('hex');
    files.set(mediaKeyOf(sha256), file);
    return sha256;
  };

  test('makes and stores a thumbnail for the first call, and reads the stored one for later calls', async () => {
    const { store, files, calls } = memoryStore();
    const sha256 = stored(files, await picture('jpeg'));
    const thumbnails = createThumbnails(store);
    const [one, two] = await Promise.all([thumbnails.thumbnailOf(sha256), thumbnails.thumbnailOf(sha256)]);
    expect(two).toEqual(one);
    const webp = files.get(thumbnailKeyOf(sha256));
    expect(one).toEqual({ webp });
    expect(await createThumbnails(store).thumbnailOf(sha256)).toEqual(one);
    expect(calls.filter((call) => call.startsWith('write'))).toEqual([`write ${thumbnailKeyOf(sha256)}`]);
  });
  test('answers for a missing file, a broken file and a film, and stores nothing', async () => {
    const { store, files, calls } = memoryStore();
    const { thumbnailOf } = createThumbnails(store);
    const broken = stored(files, (await picture('jpeg')).subarray(0, 200));
    const film = stored(files, Buffer.from('000000186674797069736f6d', 'hex'));
    const empty = stored(files, Buffer.alloc(0));
    expect(await thumbnailOf('0'.repeat(64))).toEqual({ fault: 'not_stored' });
    expect(await thumbnailOf(broken)).toEqual({ fault: 'broken' });
    expect(await thumbnailOf(film)).toEqual({ fault: 'not_an_image' });
    expect(await thumbnailOf(empty)).toEqual({ fault: 'not_an_image' });
    expect(calls.filter((call) => call.startsWith('write'))).toEqual([]);
  });
  test('reads no more than the head of a file that is too large', async () => {
    const { store, files, calls } = memoryStore();
    const sha256 = stored(files, Buffer.concat([await picture('png', 9, 9), Buffer.alloc(IMAGE_MAX_BYTES)]));
    expect(await createThumbnails(store).thumbnailOf(sha256)).toEqual({
      fault: 'too_large',
    });
    expect(calls).toEqual([`read head of ${mediaKeyOf(sha256)}`]);
  });
  test('refuses calls above its limit, and is free again afterwards', async () => {
    const { store, files } = memoryStore();
    const thumbnails = createThumbnails(store);
    const calls = Array.from({ length: 65 }, (_, at) => thumbnails.thumbnailOf(`${at}`.padStart(64, '0')));
    const ends = await Promise.allSettled(calls);
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([
      {
        status: 'rejected',
        reason: expect.objectContaining({ code: 'limit_reached' }) as unknown,
      },
    ]);
    expect(await thumbnails.thumbnailOf(stored(files, await picture('gif', 9, 9)))).toHaveProperty('webp');
  });
});
