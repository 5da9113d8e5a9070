import { describe, expect, test } from 'vitest';
import { createKeyText } from '#application/access/api-key-format.ts';
import { createRateLimiter } from '#application/access/rate-limiter.ts';
import { createRefusedRequests } from '#application/access/refused-requests.ts';

const clock = { now: () => new Date('2026-11-20T09:00:10.000Z') };
const PER_MINUTE = 3;

const open = () => {
  const limiter = createRateLimiter(clock);
  const refused = createRefusedRequests(limiter, { clock, installation: 'tests', perMinute: PER_MINUTE });
  const exhaust = (address: string): void => {
    for (let count = 0; count < PER_MINUTE; count += 1) refused.refuse(address, undefined);
  };
  return { limiter, refused, exhaust };
};

describe('requests without a valid key', () => {
  test('are limited by address until the minute ends', () => {
    const { limiter, refused, exhaust } = open();
    using _ = limiter;
    expect(refused.exhausted('192.0.2.1', undefined)).toBeNull();
    exhaust('192.0.2.1');
    expect(refused.exhausted('192.0.2.1', undefined)).toMatchObject({ resetIn: 50, limit: PER_MINUTE });
    expect(refused.exhausted('::ffff:192.0.2.1', undefined)).not.toBeNull();
    expect(refused.exhausted('192.0.2.2', undefined)).toBeNull();
  });

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8::1', '2001:db8:0:0:5:6:7:8', true],
    ['::1', '0:0:0:0:1::', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ])('count %s and %s together: %s', (one, other, together) => {
    const { limiter, refused, exhaust } = open();
    using _ = limiter;
    exhaust(one);
    expect(refused.exhausted(other, undefined) !== null).toBe(together);
  });

  test('do not hold up a valid key behind the same address, until it is refused', () => {
    const { limiter, refused, exhaust } = open();
    using _ = limiter;
    const [key, other] = [createKeyText(), createKeyText()];
    refused.accept(key);
    exhaust('192.0.2.1');
    expect(refused.exhausted('192.0.2.1', key)).toBeNull();
    expect(refused.exhausted('192.0.2.1', other)).not.toBeNull();
    refused.refuse('192.0.2.1', key);
    expect(refused.exhausted('192.0.2.1', key)).not.toBeNull();
  });
});
