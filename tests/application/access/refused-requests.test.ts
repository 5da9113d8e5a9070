import { describe, expect, test } from 'vitest';
import { createKeyText, isKeyText } from '#application/access/api-key-format.ts';
import { createRateLimiter } from '#application/access/rate-limiter.ts';
import { createRefusedRequests, NETWORKS_MAX } from '#application/access/refused-requests.ts';

const clock = { now: () => new Date('2026-11-20T09:00:10.000Z') };
const PER_MINUTE = 3;

const open = () => {
  const limiter = createRateLimiter(clock);
  const refused = createRefusedRequests(limiter, {
    clock,
    server: 'api',
    isWellFormed: isKeyText,
    perMinute: PER_MINUTE,
  });
  /** Sends a request that is refused. Returns the allowance of an address that has used it up, otherwise `null`. */
  const refuse = async (address: string, keyText?: string) => {
    const entered = await refused.enter(address, keyText);
    if (entered !== null && typeof entered !== 'string') return entered;
    refused.refuse(address, keyText, entered);
    return null;
  };
  /** Sends a request with a valid key. Returns true when it passes. */
  const accept = async (address: string, keyText: string): Promise<boolean> => {
    const entered = await refused.enter(address, keyText);
    if (entered !== null && typeof entered !== 'string') return false;
    refused.accept(keyText, entered);
    return true;
  };
  const exhaust = async (address: string): Promise<void> => {
    for (let count = 0; count < PER_MINUTE; count += 1) await refuse(address);
  };
  /** Fills the table with networks until it has `size`. */
  const fill = async (size: number): Promise<void> => {
    for (let place = 0; place < size; place += 1)
      await refuse(`10.${place >> 16}.${(place >> 8) & 255}.${place & 255}`);
  };
  return {
    limiter,
    refused,
    refuse,
    accept,
    exhaust,
    fill,
    [Symbol.dispose]: () => limiter[Symbol.dispose](),
  };
};

describe('requests without a valid key', () => {
  test('are limited by address until the minute ends', async () => {
    using requests = open();
    await requests.exhaust('192.0.2.1');
    expect(await requests.refuse('192.0.2.1')).toMatchObject({ resetIn: 50, limit: PER_MINUTE });
    expect(await requests.refuse('::ffff:192.0.2.1')).not.toBeNull();
    expect(await requests.refuse('192.0.2.2')).toBeNull();
  });

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8::1', '2001:db8:0:0:5:6:7:8', true],
    ['::1', '0:0:0:0:1::', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ])('count %s and %s together: %s', async (one, other, together) => {
    using requests = open();
    await requests.exhaust(one);
    expect((await requests.refuse(other)) !== null).toBe(together);
  });

  test.each([
    ['/64', 0.79, '2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['/48', 0.8, '2001:db8:1:2::1', '2001:db8:1:3::1', true],
    ['/48', 0.8, '2001:db8:1:2::1', '2001:db8:2:2::1', false],
    ['/32', 0.9, '2001:db8:1:2::1', '2001:db8:2:2::1', true],
    ['/32', 0.9, '2001:db8::1', '2001:db9::1', false],
  ])(
    'count by %s when the table is %f full: %s and %s together: %s',
    async (_size, part, one, other, together) => {
      using requests = open();
      await requests.fill(part * NETWORKS_MAX);
      await requests.exhaust(one);
      expect((await requests.refuse(other)) !== null).toBe(together);
    },
  );

  test('do not hold up a valid key behind the same address, until it is refused', async () => {
    using requests = open();
    const [key, other] = [createKeyText(), createKeyText()];
    expect(await requests.accept('192.0.2.1', key)).toBe(true);
    await requests.exhaust('192.0.2.1');
    expect(await requests.accept('192.0.2.1', key)).toBe(true);
    expect(await requests.accept('192.0.2.1', other)).toBe(false);
    expect(await requests.refuse('192.0.2.1', key)).toBeNull();
    expect(await requests.accept('192.0.2.1', key)).toBe(false);
  });

  test('share one count when the table is full, which holds up no well-formed key', async () => {
    using requests = open();
    await requests.fill(NETWORKS_MAX);
    await requests.exhaust('192.0.2.1');
    expect(await requests.refuse('192.0.2.2')).not.toBeNull();
    expect(await requests.refuse('192.0.2.3', 'malformed')).not.toBeNull();
    expect(await requests.accept('192.0.2.4', createKeyText())).toBe(true);
  });

  test('are not counted when the key is valid, or could not be checked', async () => {
    using requests = open();
    for (let count = 0; count < 2 * PER_MINUTE; count += 1) {
      expect(await requests.accept('192.0.2.1', createKeyText())).toBe(true);
      const entered = await requests.refused.enter('192.0.2.1', createKeyText());
      expect(entered).toBe('192.0.2.1');
      requests.refused.cancel('192.0.2.1');
    }
    expect(await requests.refuse('192.0.2.1')).toBeNull();
  });
});
