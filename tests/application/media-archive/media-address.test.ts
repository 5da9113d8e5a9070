import { describe, expect, test } from 'vitest';
import { readMediaAddress } from '#application/media-archive/want-media.ts';

const SEEN = new Date('2026-05-01T08:00:00Z');
const read = (url: string | null) => readMediaAddress(url, SEEN);
const keyOf = (url: string): string | undefined => read(url)?.fileKey;

describe('readMediaAddress', () => {
  test('gives one key to all addresses of a file, with any server and signature', () => {
    const one = keyOf('https://scontent-ber1-1.xx.library.example/v/t39/1_2_n.jpg?oh=ab&oe=69F4A3C1');
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(keyOf('https://scontent-arn2-2.xx.library.example/v/t39/1_2_n.jpg?oh=cd&oe=69F9A3C1#x')).toBe(one);
    expect(keyOf('https://scontent-ber1-1.xx.library.example/v/t39/1_3_n.jpg?oh=ab&oe=69F4A3C1')).not.toBe(
      one,
    );
    expect(keyOf('https://scontent.other.example.com/v/t39/1_2_n.jpg?oh=ab')).not.toBe(one);
  });
  test('counts the whole host where the address does not state its end: hosts of one site can be of different owners', () => {
    expect(keyOf('https://one.files.example/banner.jpg')).not.toBe(
      keyOf('https://two.files.example/banner.jpg'),
    );
    expect(keyOf('https://one.co.example/1.jpg?oe=')).not.toBe(keyOf('https://two.co.example/1.jpg?oe='));
    expect(keyOf('https://one.files.example/banner.jpg?signature=1')).toBe(
      keyOf('https://one.files.example/banner.jpg?signature=2'),
    );
  });
  test('counts the query where the path names no file', () => {
    expect(keyOf('https://library.example/image?id=1')).not.toBe(keyOf('https://library.example/image?id=2'));
  });
  test('reads the stated end, and guesses the earliest one otherwise', () => {
    const stated = read('https://library.example/a.jpg?oe=69F4A3C1');
    expect(stated?.expiresAt.toISOString()).toBe(new Date(0x69f4a3c1 * 1_000).toISOString());
    expect(stated?.tryUntil).toEqual(stated?.expiresAt);
    for (const query of ['', '?oe=', '?oe=zz', '?oe=1', '?oe=ffffffffffff']) {
      const guessed = read(`https://library.example/a.jpg${query}`);
      expect(guessed?.expiresAt.toISOString(), query).toBe('2026-05-02T18:00:00.000Z');
      expect(guessed?.tryUntil.toISOString(), query).toBe('2026-05-08T08:00:00.000Z');
    }
  });
  test('refuses texts that are not web addresses, and addresses with a password or over the limit', () => {
    const long = `https://library.example/${'a'.repeat(5_000)}.jpg`;
    const bad = [
      null,
      '',
      'a.jpg',
      'javascript:alert(1)',
      'file:///etc/passwd',
      'data:image/png;base64,AA',
      long,
    ];
    for (const url of [...bad, 'https://user:pass@library.example/a.jpg']) expect(read(url)).toBeNull();
  });
});
