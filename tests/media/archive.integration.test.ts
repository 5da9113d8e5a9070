import { hash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readArchiveStatus } from '#application/media-archive/archive-status.ts';
import { THUMBNAIL_MAX_BYTES } from '#application/media/thumbnails.ts';
import { IMAGE_MAX_BYTES } from '#application/media/media-type.ts';
import { mediaKeyOf, thumbnailKeyOf } from '#contracts/values/media/stored-media.ts';
import { ROW_LEASE_MS } from '#platform/postgres/lease/row-lease.ts';
import { type Claimed, claimFile, extendLease } from '#services/media/wanted-store.ts';
import {
  addressOf,
  bytes,
  FILM,
  type MediaStack,
  NOW,
  openMediaStack,
  picture,
  status,
  until,
} from './media-stack.ts';

const shaOf = (file: Buffer): string => hash('sha256', file, 'hex');

let stack: MediaStack;
beforeAll(async () => {
  stack = await openMediaStack();
});
afterEach(() => stack.reset());
afterAll(() => stack[Symbol.asyncDispose]());

const readObject = async (key: string): Promise<Buffer | null> => {
  const object = await stack.objectStore.open(key);
  return object === null ? null : buffer(object.read());
};

describe('the media archive', () => {
  test('stores a picture once for all ads, and publishes what it is; later ads need no download', async () => {
    const file = await picture(1, 'jpeg');
    stack.answers.set('a.jpg', bytes(file));
    await stack.want({ '10001': [[addressOf('a.jpg')]], '10002': [[addressOf('a.jpg', 50, 'b')]] });
    await using _ = stack.start();
    await stack.settled();
    const key = shaOf(file);
    const [first] = await stack.observations();
    expect(first).toEqual({
      type: 'creative.file',
      creative_key: key,
      observed_at: expect.stringMatching(/^2026-05-01T08:/),
      ad_ids: ['10001', '10002'],
      media_kind: 'image',
      content_type: 'image/jpeg',
      bytes: file.length,
      width: 400,
      height: 300,
      duration_seconds: null,
      frame_times_seconds: null,
      media_url: null,
      object_key: mediaKeyOf(key),
      poster_url: null,
      perceptual_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
      thumb_object_key: thumbnailKeyOf(key),
      poster_object_key: null,
    });
    expect((await readObject(mediaKeyOf(key)))?.equals(file)).toBe(true);
    expect((await readObject(thumbnailKeyOf(key)))?.subarray(8, 12).toString()).toBe('WEBP');
    await stack.want({ '10002': [[addressOf('a.jpg')]], '10003': [[addressOf('a.jpg')]] });
    await stack.settled();
    expect((await stack.observations()).map(({ ad_ids }) => ad_ids)).toEqual([['10001', '10002'], ['10003']]);
    expect(stack.requested).toEqual(['a.jpg']);
  });

  test('stores a film with the poster of the library, measured where a program is found', async () => {
    const poster = await picture(2);
    stack.answers
      .set('f.mp4', bytes(FILM))
      .set('f.jpg', bytes(poster))
      .set('g.mp4', bytes(Buffer.concat([FILM, FILM])));
    await stack.want({
      '10001': [[addressOf('f.mp4'), 'video', addressOf('f.jpg')]],
      '10002': [[addressOf('g.mp4'), 'video', addressOf('gone.jpg')]],
    });
    const measured = { width: 320, height: 240, durationSeconds: 6.5 };
    await using _ = stack.start({
      videoTools: { measure: async () => measured, extractStill: async () => false },
    });
    await stack.settled();
    const files = (await stack.observations()).toSorted((a, b) => (a.bytes ?? 0) - (b.bytes ?? 0));
    expect(files).toMatchObject([
      {
        media_kind: 'video',
        content_type: 'video/mp4',
        width: 320,
        duration_seconds: 6.5,
        poster_object_key: mediaKeyOf(shaOf(poster)),
        thumb_object_key: thumbnailKeyOf(shaOf(poster)),
        perceptual_hash: expect.any(String),
      },
      { media_kind: 'video', poster_object_key: null, thumb_object_key: null, perceptual_hash: null },
    ]);
    expect(await readObject(mediaKeyOf(shaOf(poster)))).toEqual(poster);
  });

  test('takes files of running ads before those of ended ads, unless an address ends within hours', async () => {
    const ended = { isActive: false };
    await stack.want({ '10001': [[addressOf('ended.png', 30)], [addressOf('soon.png', 11)]] }, ended);
    await stack.want({ '10002': [[addressOf('shared.png', 40)]] }, ended);
    await stack.want({ '10003': [[addressOf('running.png', 50)], [addressOf('late.png', 60)]] });
    // A running ad in a later part of the same scan, and a running one that another scan shows as ended.
    await stack.want({ '10004': [[addressOf('shared.png', 40)]] });
    await stack.want(
      { '10003': [[addressOf('late.png', 60)]] },
      { ...ended, seenAt: new Date(+NOW + 1_000) },
    );
    const claimed: (string | undefined)[] = [];
    for (const n of [1, 2, 3, 4, 5, 6]) {
      const claim = { owner: String(n), now: NOW, leaseNow: NOW, mode: 'images', quotaBytes: 1e9 } as const;
      claimed.push((await claimFile(stack.database, claim))?.url.replace(/^.*\/(\w+)\.png.*$/, '$1'));
    }
    expect(claimed).toEqual(['soon', 'shared', 'running', 'late', 'ended', undefined]);
  });

  test('takes what expires first, and nothing whose address has expired', async () => {
    for (const name of ['a', 'b', 'c']) stack.answers.set(`${name}.png`, bytes(await picture(3)));
    await stack.want({
      '10001': [[addressOf('a.png', 30)], [addressOf('b.png', 2)], [addressOf('c.png', 8)]],
      '10002': [[addressOf('old.png', -1)]],
    });
    await stack.want({ '10003': [[addressOf('soon.png', 1)]] });
    stack.nowMs += 3_600_000;
    const archive = await readArchiveStatus(stack.database, new Date(stack.nowMs));
    expect(archive?.files).toEqual({ wanted: 4, expiring: 3, stored: 0, missed: 0, refused: 0 });
    const claimed = [];
    for (const n of [1, 2, 3]) {
      const now = new Date(stack.nowMs);
      const claim = { owner: String(n), now, leaseNow: now, mode: 'all', quotaBytes: 1e9 } as const;
      claimed.push(await claimFile(stack.database, claim));
    }
    expect(claimed.map((file) => file?.url.at('https://a.library.example/'.length))).toEqual(['b', 'c', 'a']);
    stack.nowMs += ROW_LEASE_MS;
    await using _ = stack.start();
    await stack.settled();
    expect(await stack.states()).toEqual({
      a: 'stored',
      b: 'stored',
      c: 'stored',
      soon: 'missed: the address expired',
    });
    // The same bytes under three names are one creative, stored once.
    expect(new Set((await stack.observations()).map(({ creative_key }) => creative_key)).size).toBe(1);
  });

  test('leaves a file alone that another fetches, also on a host whose clock is ahead', async () => {
    await stack.want({ '10001': [[addressOf('held.png', 30)]] });
    const claimAt = (owner: string, afterMs: number) =>
      claimFile(stack.database, {
        owner,
        now: new Date(+NOW + afterMs),
        leaseNow: null,
        mode: 'all',
        quotaBytes: 1e9,
      });
    const claimed = await claimAt('first', 0);
    expect(await claimAt('ahead', 2 * ROW_LEASE_MS)).toBeNull();
    await extendLease(stack.database, claimed as Claimed, null);
    expect(await claimAt('ahead', 2 * ROW_LEASE_MS)).toBeNull();
    await stack.database.query('update media.wanted set lease_until = now()');
    expect(await claimAt('late', -ROW_LEASE_MS)).toMatchObject({ fileKey: claimed?.fileKey, owner: 'late' });
  });

  test('refuses other files and those over the limits, and never requests them again', async () => {
    const good = await picture(4);
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const huge = Buffer.from('89504e470d0a1a0a0000000d494844520000ea600000ea600802000000', 'hex');
    const large = Buffer.concat([good, Buffer.alloc(IMAGE_MAX_BYTES)]);
    stack.answers
      .set('svg.jpg', bytes(svg, { 'content-type': 'image/jpeg' }))
      .set('html.jpg', bytes(Buffer.from('<html>')))
      .set('empty.jpg', bytes(Buffer.alloc(0)))
      .set('huge.png', bytes(Buffer.concat([huge, Buffer.alloc(100)])))
      .set('broken.png', bytes(good.subarray(0, good.length / 2)))
      .set('large.png', bytes(large))
      .set('endless.png', (response) => {
        const part = Buffer.concat([good, Buffer.alloc(1024 ** 2)]);
        const more = (): boolean => response.write(part, (error) => error ?? more());
        more();
      })
      .set('packed.png', bytes(good, { 'content-encoding': 'gzip' }))
      .set('film.jpg', bytes(FILM));
    const names = [
      'svg.jpg',
      'html.jpg',
      'empty.jpg',
      'huge.png',
      'broken.png',
      'large.png',
      'endless.png',
      'packed.png',
      'film.jpg',
    ];
    await stack.want({ '10001': names.map((name) => [addressOf(name)] as const) });
    await using _ = stack.start();
    await stack.settled();
    const none = 'refused: not a picture or film';
    expect(await stack.states()).toEqual({
      svg: none,
      html: none,
      empty: none,
      huge: expect.stringMatching(/^refused: (too many pixels|broken)$/),
      broken: 'refused: broken',
      large: 'refused: too large',
      endless: 'refused: too large',
      packed: 'refused: encoded body',
      film: 'refused: a film in place of a picture',
    });
    const later = new Date(NOW.getTime() + 3_600_000);
    await stack.want(
      { '10001': names.map((name) => [addressOf(name, 60, 'z')] as const) },
      { seenAt: later },
    );
    await stack.settled();
    expect(stack.requested.length).toBe(names.length);
    expect(await stack.observations()).toEqual([]);
  });

  test('misses an address that has ended or leads inward, and stores the file at a newer one', async () => {
    const file = await picture(5);
    stack.answers
      .set('ended.png', status(403))
      .set('inward.png', status(302, { location: 'http://127.0.0.1:1/secret.png' }))
      .set('metadata.png', status(302, { location: 'https://169.254.169.254/latest' }))
      .set('loop.png', status(302, { location: addressOf('loop.png') }));
    const want = (signature: string, seenAt: Date): Promise<void> =>
      stack.want(
        {
          '10001': ['ended', 'inward', 'metadata', 'loop'].map(
            (name) => [addressOf(`${name}.png`, 48, signature)] as const,
          ),
        },
        { seenAt },
      );
    await want('a', NOW);
    await using _ = stack.start();
    await stack.settled();
    expect(await stack.states()).toEqual({
      ended: 'missed: answered 403',
      inward: 'missed: blocked address',
      metadata: 'missed: blocked address',
      loop: 'missed: more than 5 redirects',
    });
    stack.answers.set('ended.png', bytes(file)).set('moved.png', bytes(await picture(6)));
    stack.answers.set('loop.png', status(302, { location: addressOf('moved.png') }));
    // An older scan that arrives late brings no newer address.
    await want('o', new Date(NOW.getTime() - 3_600_000));
    expect((await stack.states())['ended']).toMatch('missed');
    await want('b', new Date(NOW.getTime() + 60_000));
    await stack.settled();
    expect(await stack.states()).toMatchObject({
      ended: 'stored',
      loop: 'stored',
      inward: 'missed: blocked address',
    });
  });

  test('tries again after errors, lies about the size and slow bytes, and rests after a 429', async () => {
    const file = await picture(7);
    stack.answers
      .set('down.png', status(500))
      .set('short.png', (response) => {
        response.writeHead(200, { 'content-length': file.length + 100 }).write(file);
        setTimeout(() => response.destroy(), 20);
      })
      .set('slow.png', (response) => void response.writeHead(200).write(file.subarray(0, 80)))
      .set('busy.png', status(429, { 'retry-after': '90' }));
    await stack.want({
      '10001': ['down', 'short', 'slow', 'busy'].map((name) => [addressOf(`${name}.png`)] as const),
    });
    const { downloader } = stack.options();
    await using _ = stack.start({ downloader: { ...downloader, limitMs: 3_000 } });
    await until('a try of each', async () => {
      const { rows } = await stack.database.query('select from media.wanted where retry_at is not null');
      return rows.length === 4;
    });
    expect(await stack.states()).toMatchObject({
      down: 'wanted: answered 500',
      slow: 'wanted: took too long',
      busy: 'wanted: answered 429',
    });
    const { rows } = await stack.database.query<{ retry_at: Date }>(
      "select retry_at from media.wanted where url like '%busy%'",
    );
    expect(rows[0]?.retry_at.getTime()).toBeGreaterThanOrEqual(NOW.getTime() + 90_000);
    for (const name of ['down', 'short', 'slow', 'busy']) stack.answers.set(`${name}.png`, bytes(file));
    // Later than each delay that a second or third try can have.
    stack.nowMs += 20 * 60_000;
    await stack.settled();
    expect(Object.values(await stack.states())).toEqual(['stored', 'stored', 'stored', 'stored']);
  });

  test('stores no films when the quota is nearly full, and nothing when it is full, and says so', async () => {
    const files = await Promise.all([picture(8), picture(9), picture(10)]);
    for (const [index, file] of files.entries()) stack.answers.set(`p${index}.png`, bytes(file));
    // Room for the picture and its thumbnail. The film needs more than the share of films.
    const quotaBytes = (files[0]?.length ?? 0) + THUMBNAIL_MAX_BYTES;
    stack.answers.set('f.mp4', bytes(Buffer.concat([FILM, Buffer.alloc(quotaBytes)])));
    await stack.want({ '10001': [[addressOf('p0.png')], [addressOf('f.mp4', 1), 'video']] });
    {
      await using _ = stack.start({ quotaBytes });
      await until('a stored picture', async () => (await stack.states())['p0'] === 'stored');
      await until(
        'a film that does not fit',
        async () => (await stack.states())['f'] === 'wanted: no room in the quota',
      );
    }
    // While it runs, it may have looked at the quota just before this and take one more file, which it then does not store.
    await stack.database.query('update media.usage set bytes = $1', [quotaBytes]);
    await stack.want({ '10002': [[addressOf('p1.png')]] });
    await using _ = stack.start({ quotaBytes });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await stack.states())['p1']).toBe('wanted');
    expect(await readArchiveStatus(stack.database, NOW)).toMatchObject({
      room: 'nothing',
      mode: 'all',
      quotaBytes,
    });
    expect(stack.requested).not.toContain('p1.png');
  });

  test('copies no films in the mode `images`, and nothing when it is off', async () => {
    await stack.want({ '10001': [[addressOf('f.mp4'), 'video'], [addressOf('a.png')]] }, { mode: 'off' });
    expect(await stack.states()).toEqual({});
    await stack.want({ '10001': [[addressOf('f.mp4'), 'video'], [addressOf('a.png')]] }, { mode: 'images' });
    expect(Object.keys(await stack.states())).toEqual(['a']);
  });

  test('removes a file that no scan has shown for long, tells it, and keeps what another file needs', async () => {
    const [shared, alone] = await Promise.all([picture(11), picture(12)]);
    stack.answers.set('a.png', bytes(shared)).set('b.png', bytes(shared)).set('c.png', bytes(alone));
    await stack.want({
      '10001': [[addressOf('a.png')], [addressOf('c.png')]],
      '10002': [[addressOf('b.png')]],
    });
    {
      await using _ = stack.start();
      await stack.settled();
    }
    const later = NOW.getTime() + 20 * 86_400_000;
    stack.nowMs = later;
    await stack.want({ '10002': [[addressOf('b.png', 21 * 24)]] }, { seenAt: new Date(later) });
    await using _ = stack.start({ keepDays: 14 });
    await until('the removal', async () => Object.keys(await stack.states()).join() === 'b');
    expect(await readObject(mediaKeyOf(shaOf(alone)))).toBeNull();
    expect(await readObject(thumbnailKeyOf(shaOf(alone)))).toBeNull();
    expect(await readObject(mediaKeyOf(shaOf(shared)))).not.toBeNull();
    expect((await stack.observations()).at(-1)).toMatchObject({ creative_key: shaOf(alone), removed: true });
    const left = await stack.database.query<{ bytes: string; sum: string }>(
      'select u.bytes::text, (select sum(bytes) from media.object)::text as sum from media.usage u',
    );
    expect(left.rows[0]?.bytes).toBe(left.rows[0]?.sum);
  });
});
