import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TEST_WORLD } from '#contracts/values/test-world.ts';
import { LIVE_KEY, TEST_KEY, lastFourOf, sha256Of } from '#application/access/key-format.ts';
import { runs } from '#tests/property-seed.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('API keys', () => {
  test('match the documented format and pass the checksum', () => {
    for (let count = 0; count < 200; count += 1) {
      const key = LIVE_KEY.create();
      expect(key).toMatch(/^svc_live_[0-9A-Za-z]{36}$/);
      expect(LIVE_KEY.isValid(key)).toBe(true);
    }
  });

  test('fail the checksum when one character is mistyped', () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 44 }), fc.constantFrom(...BASE62.split('')), (index, letter) => {
        const key = LIVE_KEY.create();
        const mistyped = key.slice(0, index) + letter + key.slice(index + 1);
        expect(LIVE_KEY.isValid(mistyped)).toBe(mistyped === key);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('fail the checksum when two neighbouring characters are swapped', () => {
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 43 }), (index) => {
        const key = LIVE_KEY.create();
        const swapped = key.slice(0, index) + key[index + 1] + key[index] + key.slice(index + 2);
        expect(LIVE_KEY.isValid(swapped)).toBe(swapped === key);
      }),
      { numRuns: runs(500) },
    );
  });

  test('reject any text that is not a key', () => {
    fc.assert(fc.property(fc.string(), (text) => !LIVE_KEY.isValid(text)));
    expect(LIVE_KEY.isValid(`${LIVE_KEY.create()} `)).toBe(false);
    expect(LIVE_KEY.isValid(LIVE_KEY.create().replace('svc_live_', 'svc_test_'))).toBe(false);
    expect(LIVE_KEY.isValid(TEST_KEY.create())).toBe(false);
    expect(TEST_KEY.isValid(LIVE_KEY.create())).toBe(false);
    expect(TEST_KEY.isValid(TEST_WORLD.api_key)).toBe(true);
  });

  test('are stored as a SHA-256 hash and their last four characters', () => {
    const key = LIVE_KEY.create();
    expect(sha256Of(key)).toMatch(/^[0-9a-f]{64}$/);
    expect(lastFourOf(key)).toBe(key.slice(-4));
  });
});
